// Exit code 0 when the server of this container is ready. The slim image has neither curl nor wget.
const port = process.env.VARVE_METRICS_PORT || process.env.VARVE_PORT || '1337';
const ready = await fetch(`http://127.0.0.1:${port}/health/ready`, {
  signal: AbortSignal.timeout(3_000),
}).then(
  (answer) => answer.ok,
  () => false,
);
process.exit(ready ? 0 : 1);
