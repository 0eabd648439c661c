import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { verifyWebhook } from '../support/standard-webhooks.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import {
  type Received,
  type ReceivedBody,
  type Receiver,
  startReceiver,
} from '../support/webhook-receiver.ts';
import recorded from './strapi-5.54.json' with { type: 'json' };

type Hook = { readonly id: string; readonly secret: string; readonly status: string; readonly name: string };
type DeliveryLine = { readonly id: string; readonly state: string; readonly event: string };

/** Value of `--webhook-related`. */
const RELATED = 3;
const PATIENT = { timeout: 30_000 };

let server: RunningServer;
let api: ApiClient;
let receiver: Receiver;
let hook: Hook;
let added = 0;

beforeAll(async () => {
  server = await startServer({ arguments: ['--webhook-related', String(RELATED)] });
  api = createApiClient(server.url);
});
afterAll(() => server.dispose());

beforeEach(async ({ onTestFinished }) => {
  receiver = await startReceiver();
  hook = await addHook({ headers: { 'X-Secret': 'abc' } });
  onTestFinished(async () => {
    await api.call('DELETE', `/_varve/webhooks/${hook.id}`);
    await receiver.close();
  });
});

function addHook(more: object): Promise<Hook> {
  added += 1;
  const data = { name: `hook ${added}`, url: receiver.url, allowPrivate: true, ...more };
  return api.data<Hook>('POST', '/_varve/webhooks', { data });
}

const create = (path: string, data: object) =>
  api.data<{ readonly documentId: string; readonly id: number }>('POST', path, { data });
/** Sorts by the order of the log, since deliveries of documents do not wait for each other. */
const inOrder = (received: readonly Received[]) =>
  received.toSorted((one, other) => positionOf(one) - positionOf(other) || one.id.localeCompare(other.id));
const positionOf = ({ id }: Received) => Number(id.split('_')[2]);
const bodies = (received: readonly Received[]) => inOrder(received).map(({ json }) => json);

/** The edits that tests made of a Strapi 5.54, whose webhooks are recorded. */
async function editAsRecorded(): Promise<void> {
  const { documentId } = await create('/api/restaurants?status=draft', {
    key: 'wh1',
    name: 'Hook',
    stars: 3,
  });
  const path = `/api/restaurants/${documentId}`;
  await api.data('PUT', `${path}?status=draft`, { data: { name: 'Hook2' } });
  await api.data('PUT', path, { data: { name: 'Hook3' } });
  await api.call('DELETE', path);
  const category = await create('/api/categories', { key: 'whc', name: 'Cat' });
  await api.call('DELETE', `/api/categories/${category.documentId}`);
}

it('sends the same events, headers and members as Strapi', async () => {
  await editAsRecorded();
  const received = inOrder(await receiver.until(7));
  // Varve sends one webhook for the document instead of one for each of its rows.
  const wanted = recorded.filter(({ body }, at) => !(at === 5 && body.event === 'entry.delete'));
  expect(received.map(({ json }) => json.event)).toEqual(wanted.map(({ body }) => body.event));
  for (const [at, { json, headers }] of received.entries()) {
    const { body, headers: strapis } = wanted[at] as (typeof recorded)[number];
    expect(headers).toMatchObject(strapis);
    expect(Object.keys(json).slice(0, 5)).toEqual(Object.keys(body));
    expect(withoutChance(json.entry ?? {}), body.event).toEqual(withoutChance(body.entry));
    expect(json).toMatchObject({ model: body.model, uid: body.uid });
    expect(() => verifyWebhook(hook.secret, { body: received[at]?.body ?? '', headers })).not.toThrow();
  }
});

/** Replaces ids and times, which differ between servers, so that only null and not null are compared. */
function withoutChance(entry: object): object {
  const members = Object.entries(entry).map(([name, value]) => [
    name,
    /(^id|Id|At)$/.test(name) ? value === null : value,
  ]);
  return Object.fromEntries(members.sort());
}

it('names rows and ids of a deleted document', async () => {
  const created = await create('/api/restaurants', { key: 'gone', name: 'Gone' });
  await api.call('DELETE', `/api/restaurants/${created.documentId}`);
  const [, , removed] = bodies(await receiver.until(3));
  expect(removed).toMatchObject({
    event: 'entry.delete',
    versions: ['draft', 'published'],
    locales: [],
    entry: { documentId: created.documentId, id: created.id, name: 'Gone' },
  });
});

it('sends one delivery for all locales of a document', async () => {
  const { documentId } = await create('/api/articles?locale=en', { key: 'loc', title: 'One' });
  await api.data('PUT', `/api/articles/${documentId}?locale=it`, { data: { title: 'Uno' } });
  await api.call('DELETE', `/api/articles/${documentId}?locale=*`);
  const received = bodies(await receiver.until(5));
  expect(received.map(({ event, locales }) => [event, locales])).toEqual([
    ['entry.create', ['en']],
    ['entry.publish', ['en']],
    ['entry.create', ['it']],
    ['entry.publish', ['it']],
    ['entry.delete', ['en', 'it']],
  ]);
  expect(received.at(-1)?.entry).toMatchObject({ title: 'One', locale: 'en' });
});

it('sends events of files as Strapi does', async () => {
  const form = new FormData();
  form.set('files', new Blob(['some text'], { type: 'text/plain' }), 'note.txt');
  const uploaded = await fetch(`${server.url}/api/upload`, { method: 'POST', body: form });
  const [file] = (await uploaded.json()) as { id: number; documentId: string }[];
  await fetch(`${server.url}/api/upload/files/${file?.id}`, { method: 'DELETE' });
  const [created, removed] = bodies(await receiver.until(2));
  expect(created).toMatchObject({
    event: 'media.create',
    media: { name: 'note.txt', documentId: file?.documentId },
  });
  expect(removed).toMatchObject({ event: 'media.delete', media: { name: 'note.txt', id: file?.id } });
  expect(Object.keys(created as ReceivedBody)).toEqual(['event', 'createdAt', 'media']);
});

it('sends only the events, types and locales that were chosen', async () => {
  const other = await startReceiver();
  const chosen = {
    url: other.url,
    events: ['entry.publish'],
    types: ['article'],
    locales: ['it'],
    populate: 'cover',
  };
  const { id } = await addHook(chosen);
  const { documentId } = await create('/api/articles?locale=en', { key: 'chosen', title: 'One' });
  await api.data('PUT', `/api/articles/${documentId}?locale=it`, { data: { title: 'Uno' } });
  await create('/api/tags', { key: 'chosen' });
  await receiver.until(5);
  const [only] = bodies(await other.until(1));
  expect(only).toMatchObject({ event: 'entry.publish', locales: ['it'], entry: { title: 'Uno' } });
  await api.call('DELETE', `/_varve/webhooks/${id}`);
  expect(other.received).toHaveLength(1);
  await other.close();
});

it('sends documents that show a changed one, if the hook wants them', async () => {
  const chef = await create('/api/chefs', { key: 'related', name: 'Ada' });
  const restaurant = await create('/api/restaurants', { key: 'related', name: 'R', chef: chef.documentId });
  const other = await startReceiver();
  const { id } = await addHook({ url: other.url, events: 'entry.related-change', types: ['restaurant'] });
  await api.data('PUT', `/api/chefs/${chef.documentId}`, { data: { name: 'Bea' } });
  const [update, publish] = bodies(await other.until(2));
  const cause = { uid: 'api::chef.chef', documentId: chef.documentId };
  expect(update).toMatchObject({ event: 'entry.related-change', cause: { ...cause, event: 'entry.update' } });
  expect(publish).toMatchObject({
    event: 'entry.related-change',
    uid: 'api::restaurant.restaurant',
    versions: ['published'],
    entry: { documentId: restaurant.documentId, chef: { name: 'Bea' } },
    cause: { ...cause, event: 'entry.publish' },
  });
  expect(other.received.map(({ id: name }) => name)).toHaveLength(
    new Set(other.received.map((each) => each.id)).size,
  );
  await api.call('DELETE', `/_varve/webhooks/${id}`);
  await other.close();
});

it('sends one delivery for a change that more documents show than the limit', async () => {
  const chef = await create('/api/chefs', { key: 'star', name: 'Ada' });
  for (let n = 0; n <= RELATED; n++)
    await create('/api/restaurants?status=draft', { key: `star${n}`, name: 'R', chef: chef.documentId });
  const other = await startReceiver();
  const { id } = await addHook({ url: other.url, events: 'entry.related-change', types: ['restaurant'] });
  await api.data('PUT', `/api/chefs/${chef.documentId}?status=draft`, { data: { name: 'Bea' } });
  await api.data('DELETE', `/api/restaurants/${(await listed('restaurants', 'star0'))[0]?.documentId}`);
  await api.data('PUT', `/api/chefs/${chef.documentId}?status=draft`, { data: { name: 'Cleo' } });
  const [itself, ...others] = bodies(await other.until(1 + RELATED));
  expect(itself).toMatchObject({
    event: 'entry.related-change',
    uid: 'api::chef.chef',
    entry: { documentId: chef.documentId, name: 'Bea' },
    cause: { event: 'entry.update', documentId: chef.documentId },
    relatedOmitted: true,
  });
  expect(new Set(others.map(({ uid }) => uid))).toEqual(new Set(['api::restaurant.restaurant']));
  await api.call('DELETE', `/_varve/webhooks/${id}`);
  await other.close();
});

const listed = (path: string, key: string) =>
  api.data<{ documentId: string }[]>('GET', `/api/${path}?status=draft&filters[key]=${key}`);

const metric = async (name: string) => sampleOf(await (await fetch(`${server.url}/metrics`)).text(), name);

it('describes its routes and measures deliveries', async () => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toContain('/_varve/webhooks/{id}/deliveries');
  await create('/api/tags', { key: 'measured' });
  await receiver.until(1);
  const delivered = () => metric('varve_webhook_delivered_total');
  await expect.poll(delivered, PATIENT).toBeGreaterThan(0);
  receiver.answer(() => ({ status: 500 }));
  await create('/api/tags', { key: 'measured2' });
  await expect.poll(() => metric('varve_webhook_deliveries_waiting'), PATIENT).toBe(1);
  await expect.poll(() => metric('varve_webhook_oldest_waiting_seconds'), PATIENT).toBeGreaterThan(0);
});

it('replays history with the values of its time, and says so', async () => {
  const { documentId } = await create('/api/restaurants?status=draft', {
    key: 'old',
    name: 'First',
    address: { street: 'Old street' },
  });
  const path = `/api/restaurants/${documentId}?status=draft`;
  await api.data('PUT', path, { data: { name: 'Second', address: { street: 'New street' } } });
  const tag = await create('/api/tags', { key: 'old-tag' });
  await api.data('PUT', path, { data: { tags: [tag.documentId] } });
  await receiver.until(4);
  const late = await startReceiver();
  const { id } = await addHook({ url: late.url });
  await api.data('POST', `/_varve/webhooks/${id}/replay`, { data: { from: 1 } });
  const all = await untilSome(late, 4, ({ json }) =>
    [documentId, tag.documentId].includes(String(json.entry?.documentId)),
  );
  const [first, second] = bodies(all);
  expect(first).toMatchObject({
    event: 'entry.create',
    replayed: true,
    entry: { name: 'First', address: { street: 'Old street' }, tags: [{ key: 'old-tag' }] },
  });
  expect(second).toMatchObject({
    event: 'entry.update',
    entry: { name: 'Second', address: { street: 'New street' } },
  });
  await api.call('DELETE', `/_varve/webhooks/${id}`);
  await late.close();
});

it('replays stored deliveries and older history of a document in the order of the log', async () => {
  const { documentId } = await create('/api/tags', { key: 'before' });
  const late = await startReceiver();
  const { id } = await addHook({ url: late.url });
  for (const key of ['stored1', 'stored2'])
    await api.data('PUT', `/api/tags/${documentId}`, { data: { key } });
  const stored = await late.until(2);
  // A delivery in flight would be done with its answer, and not be sent again.
  const done = async () => (await deliveries(id)).every(({ state }) => state === 'delivered');
  await expect.poll(done, PATIENT).toBe(true);
  expect(await api.data('POST', `/_varve/webhooks/${id}/replay`, { data: { from: 1 } })).toEqual({
    replayed: 2,
  });
  const own = await untilSome(late, 5, ({ json }) => json.entry?.documentId === documentId);
  expect(own.map(({ json }) => json.entry?.['key'])).toEqual([
    ...['stored1', 'stored2'],
    ...['before', 'stored1', 'stored2'],
  ]);
  expect(own.map(({ json }) => json['replayed'])).toEqual([undefined, undefined, true, undefined, undefined]);
  expect(own.slice(3).map((one) => [one.id, one.body])).toEqual(stored.map((one) => [one.id, one.body]));
  await api.call('DELETE', `/_varve/webhooks/${id}`);
  await late.close();
});

it('replays stored deliveries of documents that are no longer linked', async () => {
  const chef = await create('/api/chefs', { key: 'unlinked', name: 'Ada' });
  const restaurant = await create('/api/restaurants', { key: 'unlinked', name: 'R', chef: chef.documentId });
  const other = await startReceiver();
  const { id } = await addHook({ url: other.url, events: 'entry.related-change', types: ['restaurant'] });
  await api.data('PUT', `/api/chefs/${chef.documentId}`, { data: { name: 'Bea' } });
  const sent = (await other.until(2)).map((one) => one.id);
  const done = async () => (await deliveries(id)).every(({ state }) => state === 'delivered');
  await expect.poll(done, PATIENT).toBe(true);
  await api.call('DELETE', `/api/restaurants/${restaurant.documentId}`);
  await api.data('POST', `/_varve/webhooks/${id}/replay`, { data: { from: 1 } });
  await untilSome(other, 4, (one) => sent.includes(one.id));
  await api.call('DELETE', `/_varve/webhooks/${id}`);
  await other.close();
});

async function untilSome(
  from: Receiver,
  count: number,
  isWanted: (one: Received) => boolean,
): Promise<readonly Received[]> {
  for (let seen = 1; ; seen++) {
    const wanted = (await from.until(seen)).filter(isWanted);
    if (wanted.length >= count) return wanted;
  }
}

it('rotates the secret, and both sign for a day', async () => {
  const { secret } = await api.data<Hook>('POST', `/_varve/webhooks/${hook.id}/rotate`);
  await create('/api/tags', { key: 'rotated' });
  const [one] = (await receiver.until(1)) as [Received];
  expect(secret).not.toBe(hook.secret);
  for (const each of [secret, hook.secret]) expect(() => verifyWebhook(each, one)).not.toThrow();
});

it('lists the deliveries of one change, with their bodies or without', async () => {
  for (const key of ['l1', 'l2']) await create('/api/tags', { key });
  await receiver.until(2);
  type Listed = { readonly id: string; readonly position: string; readonly body?: ReceivedBody };
  const list = (query = '') =>
    api.data<readonly Listed[]>('GET', `/_varve/webhooks/${hook.id}/deliveries?${query}`);
  const [last, first] = (await list()) as [Listed, Listed];
  expect(BigInt(last.position)).toBeGreaterThan(BigInt(first.position));
  const own = await list(`position=${first.position}`);
  expect(own.map(({ id, body }) => [id, body])).toEqual([[first.id, first.body]]);
  expect(await list('position=1')).toEqual([]);
  const heads = await list('bodies=false');
  expect(heads.map(({ id }) => id)).toEqual([last.id, first.id]);
  expect(heads.filter((each) => 'body' in each)).toEqual([]);
});

it('answers bad requests with the reason', async () => {
  const bad = await api.call('POST', '/_varve/webhooks', { data: { url: 'x', events: 'nothing' } });
  expect(bad).toMatchObject({ status: 400, error: { name: 'ValidationError' } });
  expect(await api.call('POST', '/_varve/webhooks/nobody/pause')).toMatchObject({ status: 404 });
  const taken = await api.call('POST', '/_varve/webhooks', { data: { url: receiver.url, name: hook.name } });
  expect(taken.status).toBe(400);
  expect((await api.call('GET', `/_varve/webhooks/${hook.id}/deliveries?state=lost`)).status).toBe(400);
  for (const query of ['lim=1', 'limit=1&limit=2', 'state=', 'position=x', 'position=0', 'bodies=no'])
    expect((await api.call('GET', `/_varve/webhooks/${hook.id}/deliveries?${query}`)).status).toBe(400);
  for (const body of [{ from: 1 }, { data: 5 }, { data: [] }, { data: null }, { data: { delivery: 'nope' } }])
    expect((await api.call('POST', `/_varve/webhooks/${hook.id}/replay`, body)).status).toBe(400);
  const positions = [{ from: 'x' }, { from: ['1'] }, { from: '9223372036854775808' }];
  for (const data of [...positions, { from: 1, delivery: 'x' }, { delivery: 1 }, { since: 1 }])
    expect((await api.call('POST', `/_varve/webhooks/${hook.id}/replay`, { data })).status).toBe(400);
});

it('disables a hook whose receiver is gone, and starts again when the hook is resumed', async () => {
  receiver.answer(() => ({ status: 410 }));
  await create('/api/tags', { key: 'g1' });
  const status = async () =>
    (await api.data<Hook & { reason: string }>('GET', `/_varve/webhooks/${hook.id}`)).status;
  await expect.poll(status, PATIENT).toBe('disabled');
  receiver.answer(() => ({ status: 200 }));
  await create('/api/tags', { key: 'g2' });
  await api.data('POST', `/_varve/webhooks/${hook.id}/resume`);
  await create('/api/tags', { key: 'g3' });
  expect(bodies(await receiver.until(2)).map(({ entry }) => entry?.['key'])).toEqual(['g1', 'g3']);
});

it('is managed by varve webhook', takesMinutes('a dozen commands'), async () => {
  const at = ['--data', server.data];
  const { secret, id } = await jsonOf<Hook>([
    ...[
      'webhook',
      'add',
      receiver.url,
      '--name',
      'cli',
      '--events',
      'entry.create',
      '--allow-private',
      '--json',
    ],
    ...at,
  ]);
  expect(secret).toMatch(/^whsec_/);
  expect((await runVarve(['webhook', 'test', 'cli', ...at])).code).toBe(0);
  const [test] = (await receiver.until(1)) as [Received];
  expect(verifyWebhook(secret, test)).toMatchObject({ event: 'trigger-test' });
  await api.call('DELETE', `/_varve/webhooks/${hook.id}`);

  await runVarve(['webhook', 'pause', 'cli', ...at]);
  await create('/api/tags', { key: 'cli' });
  await expect
    .poll(async () => (await deliveries(id)).map(({ state }) => state), PATIENT)
    .toEqual(['waiting']);
  await runVarve(['webhook', 'resume', 'cli', ...at]);
  await receiver.until(2);
  await expect
    .poll(async () => (await deliveries(id)).map(({ state }) => state), PATIENT)
    .toEqual(['delivered']);
  const [delivered] = await jsonOf<DeliveryLine[]>(['webhook', 'deliveries', 'cli', '--json', ...at]);
  expect(delivered).toMatchObject({ state: 'delivered', event: 'entry.create' });
  await runVarve(['webhook', 'replay', 'cli', '--delivery', String(delivered?.id), ...at]);
  const [, first, again] = (await receiver.until(3)) as [Received, Received, Received];
  expect([again.id, again.body]).toEqual([first.id, first.body]);
  const ofAll = await jsonOf<DeliveryLine[]>(['webhook', 'deliveries', '--json', ...at]);
  expect(ofAll).toContainEqual(expect.objectContaining({ id: delivered?.id }));
  expect(await deliveries('*')).toContainEqual(expect.objectContaining({ id: delivered?.id }));
  const refused = async (...args: string[]) => (await runVarve(['webhook', ...args, ...at])).stderr;
  expect(await refused('replay', 'cli', '--from', 'x')).toContain('--from must be a position of the log');
  expect(await refused('replay', 'cli', '--delivery', 'x')).toContain('--delivery must be a stored delivery');
  expect(await refused('deliveries', '--state', 'x')).toContain('--state must be one of waiting, delivered');
  const listed = await runVarve(['webhook', 'list', ...at]);
  expect(listed.stdout).toContain('cli');
  expect(listed.stdout + JSON.stringify(await api.data('GET', '/_varve/webhooks'))).not.toContain('whsec_');
  expect((await runVarve(['webhook', 'remove', 'cli', ...at])).stderr).toContain('is removed');
  const unknown = await runVarve(['webhook', 'pause', 'cli', ...at]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Unknown webhook "cli"')]);
});

const deliveries = (id: string) => api.data<DeliveryLine[]>('GET', `/_varve/webhooks/${id}/deliveries`);
