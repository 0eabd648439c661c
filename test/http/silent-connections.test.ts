import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { boundOutput, OUTPUT_LIMITS } from '../../services/http/sockets/bound-output.ts';

const KEEP_ALIVE_MS = 500;

/** Connects to a server that closes idle connections after KEEP_ALIVE_MS. Resolves to the client after its first answer. */
async function answeredClient(): Promise<Socket> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, keepAliveTimeoutBuffer: 0 });
  const output = boundOutput(server, {
    limits: OUTPUT_LIMITS,
    urgent: () => false,
    handle: (_request, response) => response.end('here'),
  });
  server.on('request', output.take);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  ask(client);
  await once(client, 'data');
  return client;
}

function ask(client: Socket): void {
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
}

/** Blocks the process for longer than the limit of idle connections, as if it were paused. */
function pause(): void {
  for (const end = performance.now() + 3 * KEEP_ALIVE_MS; performance.now() < end; );
}

it('answers a request that came on an idle connection while the process was paused', async () => {
  const client = await answeredClient();
  // Timers run in the next phase of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  ask(client);
  pause();
  expect(await once(client, 'data')).toEqual([expect.stringContaining('HTTP/1.1 200 OK')]);
});

it('closes an idle connection, also after a pause', async () => {
  const client = await answeredClient();
  pause();
  await once(client, 'close');
  expect(client.destroyed).toBe(true);
});
