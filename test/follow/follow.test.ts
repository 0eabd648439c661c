import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKitchenTypes } from '../support/kitchen.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { differences } from './same-reads.ts';

/**
 * The followed server is another Varve, which answers Strapi's REST API and starts in a second. real-strapi.test.ts tests with a real
 * Strapi.
 */
const SECRET = 'a secret of this test alone';
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
let source: RunningServer;
let follower: RunningServer;

type Answer = { readonly status: number; readonly body: { data: { documentId: string; name?: string } } };
type Status = { readonly follow: { readonly trouble: string | null; readonly stuck: readonly string[] } };

async function ask(url: string, method: string, path: string, body?: object): Promise<Answer> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method, headers, ...init });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const create = async (type: string, values: object, query = '') =>
  (await ask(source.url, 'POST', `/api/${type}${query}`, { data: values })).body.data.documentId;

const startFollower = () =>
  startServer({
    data,
    contentTypes,
    env: { VARVE_FOLLOW_WEBHOOK_SECRET: SECRET },
    arguments: ['--follow', source.url, '--follow-interval', '300ms', '--follow-rate', '1000'],
  });

async function becomesEqual(): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if ((await differences(source.url, follower.url, contentTypes)).length === 0) return;
    await delay(50);
  }
  expect(await differences(source.url, follower.url, contentTypes)).toEqual([]);
}

beforeAll(async () => {
  source = await startServer({ contentTypes });
  const cook = await create('cooks', { name: 'Ann' });
  await create('cooks', { name: 'Bob' }, '?status=draft');
  for (const name of ['Soup', 'Pie', 'Tea']) await create('dishs', { name, cook });
  await create('dishs', { name: 'Idea', cook }, '?status=draft');
  follower = await startFollower();
}, 300_000);

afterAll(async () => {
  await follower?.dispose();
  await source?.dispose();
  for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
});

it('copies everything, and every change, with relations from both sides', { timeout: 300_000 }, async () => {
  await becomesEqual();
  const { data: dishes } = (await (await fetch(`${source.url}/api/dishs?sort=id`)).json()) as {
    data: { documentId: string }[];
  };
  const [soup, pie, tea] = dishes.map(({ documentId }) => documentId);
  const bob = await create('cooks', { name: 'Bobby' });
  await ask(source.url, 'PUT', `/api/cooks/${bob}`, { data: { dishs: { connect: [tea, soup] } } });
  await becomesEqual();
  await ask(source.url, 'POST', `/api/dishs/${pie}/actions/unpublish`);
  await ask(source.url, 'PUT', `/api/dishs/${tea}?status=draft`, { data: { name: 'Coffee' } });
  await becomesEqual();
  await ask(source.url, 'POST', `/api/dishs/${tea}/actions/discard-draft`);
  await ask(source.url, 'DELETE', `/api/dishs/${soup}`);
  await becomesEqual();
  const { stdout } = await runVarve(['events', '--data', data]);
  expect(stdout).toContain('by strapi (follow)');
});

it('reads a document again when a webhook with the secret names it, and refuses other webhooks', async () => {
  const send = (authorization: string, query = '') =>
    fetch(`${follower.url}/_varve/strapi${query}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ event: 'entry.update', uid: 'api::dish.dish', entry: { documentId: 'x' } }),
    });
  expect((await send('Bearer guessed')).status).toBe(401);
  expect((await send('')).status).toBe(401);
  expect((await send(`Bearer ${SECRET}`)).status).toBe(204);
  expect((await send(`Bearer ${SECRET}`, '?secret=x')).status).toBe(400);
});

it('forwards a write, and answers when it shows it', async () => {
  const { status, body } = await ask(follower.url, 'POST', '/api/dishs', { data: { name: 'Sent on' } });
  expect(status).toBe(201);
  const { documentId } = body.data;
  expect((await ask(follower.url, 'GET', `/api/dishs/${documentId}`)).body.data.name).toBe('Sent on');
  expect((await ask(source.url, 'GET', `/api/dishs/${documentId}`)).body.data.name).toBe('Sent on');
  expect((await ask(follower.url, 'DELETE', `/api/dishs/${documentId}`)).status).toBe(204);
  expect((await ask(follower.url, 'GET', `/api/dishs/${documentId}`)).status).toBe(404);
  // The source refuses this write.
  expect((await ask(follower.url, 'POST', '/api/dishs', { data: { unknown: 1 } })).status).toBe(400);
});

it('forwards sign-ins and the own user, and no cache keeps the answers', async () => {
  const signIn = { identifier: 'a', password: 'b' };
  for (const response of [
    await fetch(`${follower.url}/api/users/me`),
    await fetch(`${follower.url}/api/auth/local`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signIn),
    }),
  ]) {
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
});

const long = takesMinutes('a follower that is killed');
it('equals the source after a kill, and writes nothing twice', { ...long, timeout: 300_000 }, async () => {
  const count = async () => (await runVarve(['events', '--data', data])).stdout.split('\n').length;
  await follower.stop('SIGKILL');
  await create('dishs', { name: 'While it was away' });
  const before = await count();
  follower = await startFollower();
  await becomesEqual();
  await delay(700);
  await follower.stop();
  // At most the draft row, the published row, and the events of the election.
  expect((await count()) - before).toBeLessThanOrEqual(2 + 3);
  follower = await startFollower();
  await becomesEqual();
});

it('answers reads while the source is unreachable, and says so', { timeout: 300_000 }, async () => {
  await source.stop('SIGKILL');
  for (;;) {
    const { follow } = await jsonOf<Status>(['status', '--json', '--data', data]);
    expect(follow.stuck).toEqual([]);
    if (follow.trouble !== null) break;
    await delay(100);
  }
  expect((await ask(follower.url, 'GET', '/api/dishs')).status).toBe(200);
  const refused = await ask(follower.url, 'POST', '/api/dishs', { data: { name: 'Lost' } });
  expect(refused.status).toBe(503);
  expect(JSON.stringify(refused.body)).toContain('The followed Strapi does not answer');
});
