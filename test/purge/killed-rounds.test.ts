import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { startFleet } from '../support/fleet.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 60_000 };
/** Delay of the second purge. It is long enough to see the first purge and kill the process. */
const AGAIN_MS = 10_000;

const tagsIn = ({ received }: Receiver, from = 0) =>
  received.slice(from).map(({ json }) => json['tags'] as string[]);

/** Returns the number of purges with this tag. */
const purgesOf = (receiver: Receiver, tag: string, from = 0) =>
  tagsIn(receiver, from).filter((tags) => tags.includes(tag)).length;

/** Returns the number of changes whose first purge is not confirmed. */
async function waiting({ url }: RunningServer): Promise<number | undefined> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return sampleOf(metrics, 'varve_purge_changes_waiting', { receiver: 'webhook' });
}

/** Creates an entry, and waits until its first purge is confirmed. Returns its plain tag. */
async function purgedOnce(server: RunningServer, receiver: Receiver): Promise<string> {
  const created = await createApiClient(server.url).data<{ documentId: string }>('POST', '/api/tags', {
    data: { key: 'one' },
  });
  const tag = `tags:${created.documentId}`;
  await expect.poll(() => purgesOf(receiver, tag), PATIENT).toBe(1);
  await expect.poll(() => waiting(server), PATIENT).toBe(0);
  return tag;
}

const argumentsOf = ({ url }: Receiver, againMs: number) => [
  ...['--purge', `webhook=${url}`, '--purge-again', String(againMs)],
];

it('a process that is killed between two purges of a change sends the second one after its start', {
  ...takesMinutes('the second purge after a kill'),
  timeout: 240_000,
}, async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const first = await startServer({ arguments: argumentsOf(receiver, 1) });
  onTestFinished(() => first.dispose());
  // The first leader of a log purges everything, also twice.
  const [all = ''] = (await receiver.until(2)).flatMap(({ json }) => json['tags'] as string[]);
  await expect.poll(() => waiting(first), PATIENT).toBe(0);
  await first.stop('SIGTERM');
  const { data } = first;
  const killed = await startServer({ data, arguments: argumentsOf(receiver, AGAIN_MS) });
  const tag = await purgedOnce(killed, receiver);
  await killed.stop('SIGKILL');
  expect(purgesOf(receiver, tag)).toBe(1);
  const count = receiver.received.length;
  const next = await startServer({ data, arguments: argumentsOf(receiver, AGAIN_MS) });
  onTestFinished(() => next.dispose());
  await expect.poll(() => purgesOf(receiver, tag), PATIENT).toBe(2);
  // The killed server's file names the purges that are left, so nothing else is purged.
  expect(purgesOf(receiver, all, count)).toBe(0);
});

it('the next leader purges everything twice if the leader is killed between two purges of a change', {
  ...takesMinutes('the second purge after a takeover'),
  timeout: 240_000,
}, async () => {
  const receiver = await startReceiver();
  const fleet = await startFleet({ size: 2, arguments: argumentsOf(receiver, AGAIN_MS) });
  onTestFinished(async () => {
    await fleet.dispose();
    await receiver.close();
  });
  const [all = ''] = (await receiver.until(1)).flatMap(({ json }) => json['tags'] as string[]);
  const leader = await fleet.leader();
  const tag = await purgedOnce(leader.server(), receiver);
  await leader.end('SIGKILL');
  expect(purgesOf(receiver, tag)).toBe(1);
  const count = receiver.received.length;
  await fleet.leader();
  // Without second purges, the leader would purge everything only twice: at once, and when the former leader's answers are in caches.
  await expect.poll(() => purgesOf(receiver, all, count), PATIENT).toBeGreaterThan(2);
});
