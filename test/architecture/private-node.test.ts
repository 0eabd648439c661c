import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  acceptConnections,
  addressOf,
  answerHalfClosed,
  connectedSocket,
  onLostSocket,
  type SocketHandle,
} from '../../services/http/sockets/private-node.ts';
import { holdSocket } from '../../services/supervisor/held-socket.ts';
import type { SkipOptions } from '../support/takes-minutes.ts';

const HOST = '127.0.0.1';
const FILE = 'services/http/sockets/private-node.ts';
const PRIVATE =
  /\b(_createServerHandle|onconnection|_handle|NODE_HANDLE_\w+|internalMessage|httpAllowHalfOpen)\b/;
const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';

/** Sends a request, closes the client's side, and returns the answer. */
async function answerTo(port: number): Promise<string> {
  const client = connect({ host: HOST, port, allowHalfOpen: true });
  client.end(GET);
  return text(client);
}

async function hold(): Promise<{ readonly handle: SocketHandle; readonly port: number }> {
  const { handle, close } = await holdSocket({ host: HOST, port: 0 });
  onTestFinished(close);
  const { port = 0 } = addressOf(handle);
  return { handle, port };
}

/** Starts a process that listens with the sockets that it receives. */
async function startWorker(): Promise<ChildProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'worker.mjs');
  writeFileSync(
    program,
    `import { createServer } from 'node:http';
    process.on('message', (message, socket) => {
      const server = createServer((request, response) => response.end('from ' + process.pid));
      server.listen(socket, () => process.send('listens'));
    });
    process.send('ready');`,
  );
  const child = fork(program);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

async function listenIn(worker: ChildProcess, handle: SocketHandle): Promise<void> {
  worker.send('listen', handle as unknown as Parameters<ChildProcess['send']>[1]);
  await once(worker, 'message');
}

it('private parts of Node are in one file', () => {
  const files = globSync('{services,shared,projections}/**/*.ts');
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => PRIVATE.test(readFileSync(file, 'utf8')))).toEqual([FILE]);
});

it('_createServerHandle: without it connections are refused between the end of a worker and the next one', async () => {
  const { handle, port } = await hold();
  const [first, second] = [await startWorker(), await startWorker()];
  await listenIn(first, handle);
  expect(await answerTo(port)).toContain(`from ${first.pid}`);
  first.kill('SIGKILL');
  await once(first, 'exit');
  // Nobody accepts this connection now, but the system does not refuse it.
  const waiting = answerTo(port);
  await listenIn(second, handle);
  expect(await waiting).toContain(`from ${second.pid}`);
});

it('onconnection: without it the supervisor cannot hand connections to several workers in turn', async () => {
  const { handle, port } = await hold();
  const accepted: SocketHandle[] = [];
  expect(acceptConnections(handle, 16, (connection) => accepted.push(connection))).toBe(0);
  const server = createServer((_request, response) => response.end('from a handle'));
  const answers = [answerTo(port), answerTo(port)];
  await vi.waitFor(() => expect(accepted).toHaveLength(2), { timeout: 60_000 });
  answerHalfClosed(server);
  for (const each of accepted) server.emit('connection', connectedSocket(each));
  for (const answer of answers) expect(await answer).toContain('from a handle');
});

it('httpAllowHalfOpen: without it a client that closes its side after its last request gets no answer', async () => {
  const server = createServer((_request, response) => void setTimeout(() => response.end('late'), 50));
  answerHalfClosed(server);
  server.listen(0, HOST);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  expect(await answerTo((server.address() as { readonly port: number }).port)).toContain('late');
});

const NO_LIMITS: SkipOptions =
  process.platform === 'linux' ? {} : { skip: true, meta: { skipReason: 'limits of open files on Linux' } };

it(
  'NODE_HANDLE_NACK: without it a worker that may open no more files gets no further connections',
  NO_LIMITS,
  async () => {
    const { handle } = await hold();
    const worker = await startWorker();
    const lost = Promise.withResolvers<void>();
    onLostSocket(worker, lost.resolve);
    // The first three files of the process are open.
    execFileSync('prlimit', ['--pid', String(worker.pid), '--nofile=3:']);
    worker.send('listen', handle as unknown as Parameters<ChildProcess['send']>[1]);
    await lost.promise;
  },
);
