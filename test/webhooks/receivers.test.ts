import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { verifyWebhook } from '../support/standard-webhooks.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Received, type Receiver, startReceiver } from '../support/webhook-receiver.ts';

type Hook = {
  readonly id: string;
  readonly secret: string;
  readonly status: string;
  readonly reason: string | null;
  readonly deliveries: { readonly waiting: number; readonly parked: number };
};
type Delivery = {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string | null;
};

const PATIENT = { timeout: 30_000, interval: 20 };
/** Many short waits, so that a failing delivery is not parked. */
const ARGUMENTS = ['--webhook-retry', Array(500).fill('0.1').join(), '--webhook-timeout', '3000'];

let server: RunningServer;
let api: ApiClient;
let receiver: Receiver;
let hook: Hook;

beforeAll(async () => {
  server = await startServer({ arguments: ARGUMENTS });
  api = createApiClient(server.url);
});
afterAll(() => server.dispose());
beforeEach(async ({ onTestFinished: finished }) => {
  receiver = await startReceiver();
  hook = await addHook(receiver.url, 'usual');
  finished(receiver.close);
});

async function addHook(url: string, name: string): Promise<Hook> {
  const data = { url, name, allowPrivate: true, events: ['entry.create', 'entry.update'], types: ['tag'] };
  const added = await api.data<Hook>('POST', '/_varve/webhooks', { data });
  onTestFinished(async () => void (await api.call('DELETE', `/_varve/webhooks/${added.id}`)));
  return added;
}

const change = <Result>(verb: string, id = hook.id) =>
  api.data<Result>('POST', `/_varve/webhooks/${id}/${verb}`);
const shown = (id = hook.id) => api.data<Hook>('GET', `/_varve/webhooks/${id}`);
const deliveries = (id = hook.id) => api.data<Delivery[]>('GET', `/_varve/webhooks/${id}/deliveries`);
const createTag = (key: string) => api.data<{ documentId: string }>('POST', '/api/tags', { data: { key } });
const keysOf = (received: readonly Received[]) => received.map(({ json }) => json.entry?.['key']);

/** Starts a receiver that answers with this listener. */
async function listen(answer: RequestListener): Promise<string> {
  const program = createServer(answer).listen(0, '127.0.0.1');
  await once(program, 'listening');
  onTestFinished(() => {
    program.close();
    program.closeAllConnections();
  });
  return `http://127.0.0.1:${(program.address() as AddressInfo).port}/`;
}

/** Makes the receiver answer with this status when the returned function is called. */
function holdAnswers(status: number): () => void {
  const answered = Promise.withResolvers<void>();
  receiver.answer(async () => {
    await answered.promise;
    return { status };
  });
  return answered.resolve;
}

it('signs a retry with the secrets of its time, also if they were rotated since the first attempt', async () => {
  receiver.answer(() => ({ status: 503 }));
  await createTag('rotated');
  const [first] = (await receiver.until(1)) as [Received];
  const { secret } = await change<Hook>('rotate');
  // An attempt that was signed before may be in flight.
  receiver.answer((one) => ({ status: isSignedWith(secret, one) ? 200 : 503 }));
  await expect.poll(async () => (await deliveries())[0]?.state, PATIENT).toBe('delivered');
  const last = receiver.received.at(-1) as Received;
  expect([last.id, last.body]).toEqual([first.id, first.body]);
  expect(() => verifyWebhook(secret, first)).toThrow();
  for (const each of [secret, hook.secret]) expect(() => verifyWebhook(each, last)).not.toThrow();
});

function isSignedWith(secret: string, received: Received): boolean {
  try {
    verifyWebhook(secret, received);
    return true;
  } catch {
    return false;
  }
}

it('stores the result of a delivery in flight while its webhook is paused, and sends the others when it is resumed', async () => {
  const answer = holdAnswers(200);
  const { documentId } = await createTag('p0');
  await receiver.until(1);
  await api.data('PUT', `/api/tags/${documentId}`, { data: { key: 'p1' } });
  await change('pause');
  answer();
  const states = async () => (await deliveries()).map(({ state }) => state).toReversed();
  await expect.poll(states, PATIENT).toEqual(['delivered', 'waiting']);
  await createTag('p2');
  await expect.poll(states, PATIENT).toEqual(['delivered', 'waiting', 'waiting']);
  expect(keysOf(receiver.received)).toEqual(['p0']);
  await change('resume');
  expect(new Set(keysOf(await receiver.until(3)))).toEqual(new Set(['p0', 'p1', 'p2']));
  await expect.poll(states, PATIENT).toEqual(['delivered', 'delivered', 'delivered']);
});

it('sends no more deliveries of a webhook that is removed while a delivery is in flight', async () => {
  const answer = holdAnswers(503);
  const { documentId } = await createTag('gone');
  await receiver.until(1);
  await api.data('PUT', `/api/tags/${documentId}`, { data: { key: 'gone1' } });
  await api.call('DELETE', `/_varve/webhooks/${hook.id}`);
  answer();
  const other = await startReceiver();
  onTestFinished(other.close);
  await addHook(other.url, 'other');
  await createTag('later');
  await other.until(1);
  expect(keysOf(receiver.received)).toEqual(['gone']);
  expect((await api.call('GET', `/_varve/webhooks/${hook.id}/deliveries`)).status).toBe(404);
});

it('is disabled by a 410 while other deliveries are in flight: these are parked or wait, and resuming sends the waiting ones', async () => {
  receiver.answer(() => ({ status: 410 }));
  await Promise.all(['g0', 'g1', 'g2'].map(createTag));
  await expect.poll(async () => (await shown()).status, PATIENT).toBe('disabled');
  expect((await shown()).reason).toBe('the receiver answered 410 Gone');
  const ids = new Set((await receiver.until(1)).map(({ id }) => id));
  await createTag('while disabled');
  receiver.answer(() => ({ status: 200 }));
  await change('resume');
  await createTag('g3');
  await expect.poll(async () => (await shown()).deliveries.waiting, PATIENT).toBe(0);
  const states = new Map((await deliveries()).map(({ id, state }) => [id, state]));
  for (const id of ids) expect(states.get(id)).toBe('parked');
  expect(keysOf(receiver.received)).not.toContain('while disabled');
  await change('replay');
  await expect.poll(async () => (await shown()).deliveries, PATIENT).toMatchObject({ waiting: 0, parked: 0 });
  expect(new Set(keysOf(receiver.received))).toEqual(new Set(['g0', 'g1', 'g2', 'g3']));
});

it(
  'waits until the date of Retry-After, for all deliveries of the webhook',
  takesMinutes('dates of Retry-After'),
  async () => {
    const until = Math.ceil(Date.now() / 1_000) * 1_000 + 2_000;
    receiver.answer(() =>
      Date.now() < until
        ? { status: 429, headers: { 'retry-after': new Date(until).toUTCString() } }
        : { status: 200 },
    );
    await createTag('dated');
    await receiver.until(1);
    await expect.poll(async () => (await deliveries())[0]?.attempts, PATIENT).toBeGreaterThan(0);
    await createTag('dated too');
    await expect.poll(async () => (await shown()).deliveries.waiting, PATIENT).toBe(0);
    expect(keysOf(receiver.received)).toHaveLength(3);
    expect((await deliveries()).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  },
);

const REDIRECTED = 'the receiver answered 302';

it('counts a redirect as a failed attempt, and reports it', async () => {
  const other = await startReceiver();
  onTestFinished(other.close);
  receiver.answer(() => ({ status: 302, headers: { location: other.url } }));
  await createTag('redirected');
  await expect
    .poll(async () => (await deliveries())[0], PATIENT)
    .toMatchObject({
      state: 'waiting',
      status: 302,
      error: REDIRECTED,
    });
  receiver.answer(() => ({ status: 200 }));
  await expect
    .poll(async () => (await deliveries())[0], PATIENT)
    .toMatchObject({
      state: 'delivered',
      error: null,
    });
  expect(other.received).toEqual([]);
});

const ENDLESS: RequestListener = (_request, response) => {
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(10_000)));
  };
  response.writeHead(200).on('drain', more);
  more();
};

it.each<readonly [string, RequestListener, Partial<Delivery>]>([
  ['a body without end', ENDLESS, { state: 'delivered', status: 200 }],
  ['no answer', () => {}, { state: 'waiting', status: null, error: 'no answer within 3000 ms' }],
  [
    'a body that never ends and hardly comes',
    (_request, response) => void response.writeHead(200).write('x'),
    { state: 'waiting', status: null, error: 'no answer within 3000 ms' },
  ],
  [
    'half a body',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy());
    },
    { state: 'waiting', status: null, error: expect.any(String) },
  ],
  [
    'another protocol',
    ({ socket }) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    { state: 'waiting', status: null, error: expect.any(String) },
  ],
  [
    'no HTTP',
    ({ socket }) => void socket.end('SSH-2.0-OpenSSH\r\n'),
    { state: 'waiting', status: null, error: expect.any(String) },
  ],
])(
  'says how a delivery to a receiver with %s ended',
  takesMinutes('strange receivers'),
  async (what, answer, expected) => {
    const { id } = await addHook(await listen(answer), 'strange');
    await createTag(`strange ${what}`);
    await expect.poll(async () => (await deliveries(id))[0]?.attempts, PATIENT).toBeGreaterThan(0);
    expect((await deliveries(id))[0]).toMatchObject(expected);
    // The failing webhook delays no other webhook, and the server continues.
    await receiver.until(1);
  },
);
