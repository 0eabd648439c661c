import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { ROOT } from './bench-data.ts';
import { startVarve } from './start-varve.ts';

/**
 * `node test/bench/idle-streams.ts`: measures the memory of idle streams of the change feed. The limit on open files must be higher than
 * their number. Prints the resident memory of the server's processes: before, with all streams open after three heartbeats, and after a
 * write that each stream received. The aim is at most 300 MB more for 10,000 streams.
 */
const options = new Command()
  .option('--streams <n>', 'open streams', '10000')
  .option('--checkout <dir>', 'the checkout that serves', ROOT)
  .parse()
  .opts<Record<'streams' | 'checkout', string>>();

const HEARTBEAT_MS = 5_000;
const AT_ONCE = 100;

const streams = Number(options.streams);
const scratch = mkdtempSync(join(tmpdir(), 'varve-streams-'));
const server = await startVarve({
  data: join(scratch, 'data'),
  checkout: options.checkout,
  more: [
    ...['--stream-heartbeat', String(HEARTBEAT_MS)],
    ...['--streams', String(streams), '--streams-per-caller', String(streams)],
  ],
  until: '/health/ready',
});
try {
  const { port } = new URL(server.base);
  const created = await createTag('first');
  const page = (await (await fetch(`${server.base}/api/_changes?types=tags`)).json()) as {
    readonly meta: { readonly next: string };
  };
  const path = `/api/_changes?types=tags&since=${page.meta.next}`;
  await delay(3 * HEARTBEAT_MS);
  const before = server.residentMiB();
  const sockets: Socket[] = [];
  let received = 0;
  const open = async (): Promise<void> => {
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    socket
      .setEncoding('utf8')
      .write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [string];
    if (!head.startsWith('HTTP/1.1 200')) throw new Error(head);
    socket.on('data', (text: string) => {
      if (text.includes('event: changes')) received++;
    });
  };
  for (let opened = 0; opened < streams; opened += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, streams - opened) }, open));
  await delay(3 * HEARTBEAT_MS);
  const idle = server.residentMiB();
  const started = performance.now();
  await createTag('second');
  while (received < streams) await delay(1);
  const sent = performance.now() - started;
  await delay(HEARTBEAT_MS);
  const after = server.residentMiB();
  const more = (now: number) => `${now.toFixed(0)} MiB, ${(now - before).toFixed(0)} more`;
  console.log(`${streams} streams, one document (${created}); before: ${before.toFixed(0)} MiB`);
  console.log(
    `idle: ${more(idle)}; after a change that all received within ${sent.toFixed(0)} ms: ${more(after)}`,
  );
  for (const socket of sockets) socket.destroy();
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}

async function createTag(key: string): Promise<string> {
  const answer = await fetch(`${server.base}/api/tags`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key, name: key } }),
  });
  const { data } = (await answer.json()) as { readonly data: { readonly documentId: string } };
  return data.documentId;
}
