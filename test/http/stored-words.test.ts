import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of rows, large enough that their words are stored. */
const TAGS = 1_100;
const WRITERS = 16;
const data = createDataDirectory();
const copy = createDataDirectory();
const servers: RunningServer[] = [];

afterAll(async () => {
  for (const server of servers) await server.dispose();
  for (const folder of [data, copy]) rmSync(folder, { recursive: true, force: true });
});

async function start(folder: string): Promise<RunningServer> {
  const server = await startServer({ data: folder });
  servers.push(server);
  return server;
}

type Tag = { readonly documentId: string; readonly name: string };

async function write(url: string, path: string, method: string, values?: object): Promise<Tag> {
  const body = values && JSON.stringify({ data: values });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/tags${path}`, { method, headers, ...(body && { body }) });
  expect(answer.status, `${method} ${path}`).toBeLessThan(300);
  const text = await answer.text();
  return text === '' ? { documentId: '', name: '' } : JSON.parse(text).data;
}

/** Returns the names of the tags that a search finds. */
async function found({ url }: RunningServer, query: string): Promise<readonly string[]> {
  const path = `/api/tags?search=${encodeURIComponent(query)}&typoTolerance=false&sort=id&pagination[pageSize]=100`;
  const answer = await fetch(url + path);
  expect(answer.status).toBe(200);
  const { data: tags } = (await answer.json()) as { readonly data: readonly Tag[] };
  return tags.map(({ name }) => name);
}

const words = (folder: string) =>
  existsSync(join(folder, 'words')) ? readdirSync(join(folder, 'words')) : [];

it('finds the texts of the rows after kills and in copies, for any stored words', {
  timeout: 240_000,
  ...takesMinutes('kills of servers with a thousand rows'),
}, async () => {
  const first = await start(data);
  const tags: Tag[] = [];
  for (let at = 0; at < TAGS; at += WRITERS) {
    const keys = Array.from({ length: Math.min(WRITERS, TAGS - at) }, (_, i) => at + i);
    const made = keys.map((key) => write(first.url, '', 'POST', { key: `k${key}`, name: `word${key} tag` }));
    tags.push(...(await Promise.all(made)));
  }
  const { documentId: edited = '' } = tags.find(({ name }) => name === 'word7 tag') ?? {};
  const { documentId: removed = '' } = tags.find(({ name }) => name === 'word8 tag') ?? {};
  expect(await found(first, 'word7 ')).toEqual(['word7 tag']);
  await expect.poll(() => found(first, 'word8 ').then(() => words(data))).toEqual(['api--tag.tag.live']);
  // The stored words are older than these changes.
  await write(first.url, `/${edited}`, 'PUT', { name: 'another tag' });
  await write(first.url, `/${removed}`, 'DELETE');
  await write(first.url, '', 'POST', { key: 'last', name: 'newest tag' });
  await first.stop('SIGKILL');
  // A process that is killed while it stores words leaves such a file.
  writeFileSync(join(data, 'words', 'api--tag.tag.live.999999999.part'), 'half');
  cpSync(data, copy, { recursive: true });
  for (const folder of [data, copy]) {
    const next = await start(folder);
    for (const [query, names] of [
      ['word7 ', []],
      ['word8 ', []],
      ['another ', ['another tag']],
      ['newest ', ['newest tag']],
      ['word9 ', ['word9 tag']],
    ] as const)
      expect(await found(next, query), query).toEqual(names);
    await write(next.url, `/${edited}`, 'PUT', {
      name: `edited in ${folder === data ? 'original' : 'copied'}`,
    });
    expect(await found(next, 'edited ')).toHaveLength(1);
    await next.stop('SIGKILL');
  }
});
