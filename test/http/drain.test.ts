import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { startWorkers } from '../support/several-workers.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const CLIENTS = 12;
/** Number of answers before the server is stopped under load. */
const ANSWERS = 600;
/** A connection that was idle for this long may be closed while its next request is sent, for example on a busy machine. */
const IDLE_MS = 250;

type Answer = { readonly status: number; readonly body: string };

function send(agent: Agent, url: string, method: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request(url, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}

it('SIGTERM under load: every open connection is answered, then exit 0', async () => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  await stopUnderLoad(server);
});

it('SIGTERM under load with two workers does the same', takesMinutes('two workers under load'), async () => {
  await stopUnderLoad(await startWorkers());
});

const inSwitch = takesMinutes('a stop in the switch of a hand-over');

it('SIGTERM when the next worker of a hand-over has become the leader does the same', inSwitch, async () => {
  const server = await startServer({ arguments: ['--log-level', 'info'] });
  onTestFinished(() => server.dispose());
  await stopUnderLoad(server, () => handedOver(server, 'this process is the leader', 2));
});

it('SIGTERM when a reading worker of a hand-over has been replaced does the same', inSwitch, async () => {
  const server = await startWorkers();
  await stopUnderLoad(server, () => handedOver(server, 'another process serves now', 1));
});

/** Starts a hand-over. Resolves when the log has a message so many times. */
async function handedOver(server: RunningServer, message: string, times: number): Promise<void> {
  process.kill(server.supervisor, 'SIGHUP');
  while (server.output().split(message).length <= times) await delay(1);
}

async function stopUnderLoad(server: RunningServer, before = async () => {}): Promise<void> {
  const path = `${server.url}/api/restaurants`;
  const written: string[] = [];
  const statuses: number[] = [];
  const refusals: unknown[] = [];
  const enough = Promise.withResolvers<void>();
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    let sent = performance.now();
    for (let i = 0; refusals.length < CLIENTS; i++) {
      const pause = performance.now() - sent;
      sent += pause;
      const name = `${number}-${i}`;
      const body = JSON.stringify({ data: { key: name, name } });
      try {
        const answer =
          number % 3 === 0 ? await send(agent, path, 'POST', body) : await send(agent, path, 'GET');
        statuses.push(answer.status);
        if (answer.status === 201) written.push(name);
      } catch (error) {
        // The server is gone for this client.
        const { code, message } = error as NodeJS.ErrnoException;
        refusals.push(code === 'ECONNRESET' && pause >= IDLE_MS ? 'ECONNREFUSED' : (code ?? message));
        return;
      }
      if (statuses.length === ANSWERS) enough.resolve();
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  await enough.promise;
  await before();
  const exit = server.stop('SIGTERM');
  await Promise.all(clients);
  expect(await exit).toMatchObject({ code: 0, signal: null });
  // A client notices the end by a refused connection, never by one that breaks during a request.
  expect(new Set(refusals)).toEqual(new Set(['ECONNREFUSED']));
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  const again = await startServer({ data: server.data });
  onTestFinished(() => again.dispose());
  const list = await fetch(`${again.url}/api/restaurants?pagination[limit]=1&pagination[start]=0`);
  const { meta } = (await list.json()) as { meta: { pagination: { total: number } } };
  expect(meta.pagination.total).toBe(written.length);
}
