import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { asOf, readWhole } from '../support/past-requests.ts';
import { addRelease, draft, inMs, startArticles } from '../support/released-articles.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const HOUR = 3_600_000;
const LONG = { ...takesMinutes('previews of releases'), timeout: 900_000 };

let started: Awaited<ReturnType<typeof startArticles>> | undefined;
let client: ApiClient;
let url = '';

beforeAll(async () => {
  if (LONG.skip) return;
  started = await startArticles(['--past-worlds', '3']);
  ({ client } = started);
  ({ url } = started.server);
}, 240_000);
afterAll(() => started?.dispose());

/** Requests that show entries in every way. */
const PATHS = [
  '/api/articles?sort=title&fields=title',
  '/api/articles?sort=title&fields=title&status=draft',
  '/api/articles?search=hidden&fields=title&highlight=title',
  '/api/articles?facets=title&pagination[pageSize]=1&fields=title&sort=title',
  '/api/articles?filters[title][$contains]=e&fields=title&sort=title:desc',
  '/api/pages?fields=title',
];

it('shows what due releases will show, and shows it to nobody else', LONG, async () => {
  const [shown, hidden, invalid] = [
    await draft(client, { title: 'shown' }),
    await draft(client, { title: 'hidden' }),
    await draft(client, { batch: 'without a title' }),
  ];
  await client.data('POST', `/api/articles/${shown}/actions/publish`);
  const [first, second, third] = [inMs(HOUR), inMs(2 * HOUR), inMs(3 * HOUR)];
  const one = await addRelease(client, { name: 'one' }, [hidden]);
  const withdrawal = { type: 'unpublish', contentType: 'api::article.article', entryDocumentId: shown };
  await client.data('POST', `/_varve/releases/${one.id}/actions`, { data: withdrawal });
  const blocked = await addRelease(client, { name: 'blocked' }, [invalid, shown]);
  const last = await addRelease(client, { name: 'last' }, [shown]);
  for (const [{ id, name }, scheduledAt] of [
    [one, first],
    [blocked, second],
    [last, third],
  ] as const)
    await client.data('PUT', `/_varve/releases/${id}`, { data: { name, scheduledAt } });

  const titles = async (moment: string) =>
    JSON.parse(await preview(PATHS[0] ?? '', moment)).data.map((entry: { title: string }) => entry.title);
  const now = () => Promise.all(PATHS.map((path) => seen(path)));
  const before = await now();
  const previews = (moment: string) => Promise.all(PATHS.map((path) => preview(path, moment)));
  // The last instant before a release, and its own.
  expect(await previews(justBefore(first))).toEqual(before);
  const afterOne = await previews(first);
  expect(await titles(first)).toEqual(['hidden']);
  expect(await titles(justBefore(third))).toEqual(['hidden']);
  const afterLast = await previews(third);
  expect(await titles(inMs(9 * HOUR))).toEqual(['hidden', 'shown']);
  expect(await now()).toEqual(before);

  // A change of a draft is in a preview soon.
  await client.data('PUT', `/api/articles/${hidden}?status=draft`, { data: { title: 'later' } });
  while (!(await titles(first)).includes('later')) await delay(500);
  expect(await preview(`/api/articles/${hidden}?fields=title`, first)).toContain('later');
  await client.data('PUT', `/api/articles/${hidden}?status=draft`, { data: { title: 'hidden' } });

  await client.data('POST', `/_varve/releases/${one.id}/publish`);
  expect(await now()).toEqual(afterOne);
  await client.data('POST', `/_varve/releases/${last.id}/publish`);
  expect(await now()).toEqual(afterLast);

  const read = async (more: object) => {
    const body = { data: { name: JSON.stringify(more), type: 'read-only', ...more } };
    const { accessKey } = await createToken(body);
    const headers = { authorization: `Bearer ${accessKey}` };
    const { status, body: text } = await readWhole(url, asOf(PATHS[0] ?? '', second), headers);
    return { status, message: JSON.parse(text).error?.message };
  };
  const all = await createToken({ data: { name: 'all', type: 'full-access' } });
  admin = { authorization: `Bearer ${all.accessKey}` };
  expect(await read({})).toEqual({ status: 400, message: 'Invalid key asOf' });
  expect(await read({ drafts: true })).toEqual({ status: 400, message: 'Invalid key asOf' });
  expect(await read({ history: true })).toEqual({ status: 400, message: 'asOf is in the future' });
  expect(await read({ drafts: true, history: true })).toEqual({ status: 200, message: undefined });
});

let admin: Readonly<Record<string, string>> = {};

async function createToken(body: object): Promise<{ readonly accessKey: string }> {
  const headers = { 'content-type': 'application/json', ...admin };
  const answer = await fetch(`${url}/_varve/tokens`, { method: 'POST', headers, body: JSON.stringify(body) });
  return ((await answer.json()) as { readonly data: { readonly accessKey: string } }).data;
}

function justBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString();
}

async function preview(path: string, moment: string): Promise<string> {
  const { status, body } = await readWhole(url, asOf(path, moment));
  expect([status, path]).toEqual([200, path]);
  return withoutIds(body);
}

async function seen(path: string): Promise<string> {
  return withoutIds(await (await fetch(url + path)).text());
}

/** Each publication gets a new numeric id. */
function withoutIds(body: string): string {
  return body.replaceAll(/"id":\d+,/g, '');
}
