import { runCorpus, startLoadedServer } from './run-corpus.ts';

/**
 * `npm run conformance -- --only deep`: the corpus against a server of its own. All arguments go to run.mjs (its head lists
 * them), its exit code is this one's.
 */
const server = await startLoadedServer();
try {
  const { code } = await runCorpus(server.url, process.argv.slice(2), 'show');
  process.exitCode = code;
} finally {
  await server.dispose();
}
