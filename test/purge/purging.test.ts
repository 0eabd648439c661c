import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 30_000 };

type Purging = { readonly receiver: Receiver; server: RunningServer; readonly start: () => Promise<void> };

async function startPurging(): Promise<Purging> {
  const receiver = await startReceiver();
  const args = ['--purge', `webhook=${receiver.url}`];
  const env = { VARVE_PURGE_TOKEN: 'a-secret-of-the-site' };
  const purging: Purging = {
    receiver,
    server: await startServer({ arguments: args, env }),
    async start() {
      purging.server = await startServer({ data: purging.server.data, arguments: args, env });
    },
  };
  onTestFinished(async () => {
    await purging.server.dispose();
    await receiver.close();
  });
  await settle(purging);
  return purging;
}

/** Waits until the first leader of a log has purged everything. */
async function settle(purging: Purging): Promise<void> {
  const { receiver } = purging;
  const [first] = await receiver.until(1);
  expect(first?.json['tags']).toContain('restaurants');
  await expect.poll(() => waiting(purging), PATIENT).toBe(0);
}

/** Returns the number of changes that the receiver has not confirmed. */
async function waiting({ server }: Purging): Promise<number | undefined> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return sampleOf(metrics, 'varve_purge_changes_waiting', { receiver: 'webhook' });
}

const tagsSince = ({ receiver }: Purging, count: number) =>
  new Set(receiver.received.slice(count).flatMap(({ json }) => json['tags'] as string[]));

it('purges the answers that a write changes, with its position and the secret', async () => {
  const purging = await startPurging();
  const { receiver, server } = purging;
  const api = createApiClient(server.url);
  const [all] = [...tagsSince(purging, 0)];
  // A slow machine may have got the first purge twice.
  const before = receiver.received.length;
  const created = await fetch(`${server.url}/api/tags`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key: 'one' } }),
  });
  const { data } = (await created.json()) as { data: { documentId: string } };
  await expect.poll(() => tagsSince(purging, before).has(`tags:${data.documentId}`), PATIENT).toBe(true);
  const tags = tagsSince(purging, before);
  expect(tags).toContain('tags');
  expect(tags).not.toContain(all);
  const last = receiver.received.at(-1);
  expect(Number(last?.json['position'])).toBeGreaterThanOrEqual(
    Number(created.headers.get('varve-position')),
  );
  expect(last?.headers.authorization).toBe('Bearer a-secret-of-the-site');
  const count = receiver.received.length;
  await api.data('PUT', `/api/tags/${data.documentId}`, { data: { key: 'two' } });
  await expect.poll(() => tagsSince(purging, count).has(`tags:${data.documentId}`), PATIENT).toBe(true);
  // A change that affects all answers purges all of them.
  await api.call('PUT', '/_varve/public', { data: { allow: ['api::tag.tag.find'] } });
  await expect.poll(() => tagsSince(purging, count).has(String(all)), PATIENT).toBe(true);
  const { output } = await server.stop('SIGTERM');
  expect(output).not.toContain('a-secret-of-the-site');
});

it(
  'purges after a start only changes that it had not purged',
  takesMinutes('purges after kills'),
  async () => {
    const purging = await startPurging();
    const { receiver } = purging;
    await purging.server.stop('SIGTERM');
    await purging.start();
    await expect.poll(() => waiting(purging), PATIENT).toBe(0);
    receiver.answer(() => ({ status: 503 }));
    const before = receiver.received.length;
    expect(before).toBe(1);
    const api = createApiClient(purging.server.url);
    const { documentId } = await api.data<{ documentId: string }>('POST', '/api/tags', {
      data: { key: 'x' },
    });
    await receiver.until(before + 1);
    await purging.server.stop('SIGKILL');
    receiver.answer(() => ({ status: 200 }));
    const count = receiver.received.length;
    await purging.start();
    await expect.poll(() => tagsSince(purging, count).has(`tags:${documentId}`), PATIENT).toBe(true);
  },
);
