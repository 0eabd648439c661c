import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { writePageTypes } from '../support/page-types.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Entries with more links than documents in Elasticsearch copy, and with more than 10,000 nested parts. Both engines answer alike. */
const TITLE = 'an entry with thousands of links';
const TOPICS = 12_000;
const space = `links_${process.pid}`;
const types = writePageTypes();
const folders = [createDataDirectory(), createDataDirectory()] as const;
/** Row ids of topics begin at 1. */
const topicId = (n: number) => n + 1;
const name = (n: number) => `topic ${String(n).padStart(5, '0')}`;

type Engine = { readonly server: RunningServer; readonly pages: Map<string, string> };

let engines: readonly Engine[] = [];

async function send(method: string, url: string, data?: object): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const init = data === undefined ? {} : { headers, body: JSON.stringify({ data }) };
  const answer = await fetch(url, { method, ...init });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Creates or changes a page on both engines. */
async function write(title: string, data: object): Promise<void> {
  for (const { server, pages } of engines) {
    const known = pages.get(title);
    const [method, path] = known === undefined ? ['POST', 'pages'] : ['PUT', `pages/${known}`];
    const { status, body } = await send(method as string, `${server.url}/api/${path}`, { title, ...data });
    // 202: a busy machine takes longer than ten seconds.
    expect([200, 201, 202], JSON.stringify(body).slice(0, 500)).toContain(status);
    pages.set(title, (body as { data: { documentId: string } }).data.documentId);
  }
}

/** Omits what differs between two servers with the same content. */
const comparable = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    ['createdAt', 'updatedAt', 'publishedAt'].includes(key) || key === 'documentId' ? undefined : value,
  );

/** Returns the answer of both engines, which is the same as soon as Elasticsearch shows all writes. */
async function answer(
  query: string,
): Promise<{ readonly data: readonly Readonly<Record<string, unknown>>[] }> {
  const [embedded, elasticsearch] = engines as [Engine, Engine];
  const wanted = await send('GET', `${embedded.server.url}/api/${query}`);
  expect(wanted.status, JSON.stringify(wanted.body)).toBe(200);
  const found = async () => comparable((await send('GET', `${elasticsearch.server.url}/api/${query}`)).body);
  await expect
    .poll(found, { timeout: 60_000, interval: 200, message: query })
    .toEqual(comparable(wanted.body));
  return wanted.body as { data: { [name: string]: unknown }[] };
}

const titles = async (query: string) =>
  (await answer(`pages?${query}&sort=title`)).data.map(({ title }) => title);

describe(TITLE, await needsElasticsearch(takesMinutes(TITLE)), () => {
  beforeAll(async () => {
    const lines = Array.from({ length: TOPICS }, (_, n) =>
      JSON.stringify({ type: 'topic', key: `t${n}`, state: 'live', data: { name: name(n) } }),
    );
    const file = join(folders[0], '..', `${space}.jsonl`);
    writeFileSync(file, lines.join('\n'));
    const imported = await runVarve([
      'import',
      file,
      '--content-types',
      types,
      '--data',
      folders[0],
      '--space',
      space,
    ]);
    rmSync(file);
    expect(imported.code, imported.stderr).toBe(0);
    cpSync(folders[0], folders[1], { recursive: true });
    const common = ['--body-limit', '10000000', '--space', space];
    const outside = [...common, '--read-index', await elasticsearchUrl()];
    engines = await Promise.all(
      [common, outside].map(async (args, at) => ({
        server: await startServer({ data: folders[at] as string, contentTypes: types, arguments: args }),
        pages: new Map(),
      })),
    );
  }, 600_000);
  afterAll(async () => {
    for (const { server } of engines) await server.dispose();
    for (const folder of [...folders, types]) rmSync(folder, { recursive: true, force: true });
    await removeIndices(await elasticsearchUrl(), space);
  });

  it('is written, changed, found from both sides, sorted and populated', async () => {
    const topics = (count: number) => Array.from({ length: count }, (_, n) => topicId(n));
    await write('few', { topics: topics(3) });
    await write('many', { topics: topics(9_900) });
    await write('most', { topics: topics(TOPICS) });
    expect(await titles(`filters[topics][name][$eq]=${name(0)}`)).toEqual(['few', 'many', 'most']);
    expect(await titles(`filters[topics][name][$eq]=${name(9_899)}`)).toEqual(['many', 'most']);
    expect(await titles(`filters[topics][name][$eq]=${name(11_999)}`)).toEqual(['most']);
    expect(await titles(`filters[topics][name][$contains]=119`)).toEqual(['many', 'most']);
    // A page matches if one of its topics has another name.
    expect(await titles('filters[$not][topics][name][$eq]=topic 09900')).toEqual(['few', 'many', 'most']);
    expect(await titles('filters[topics][name][$null]=true')).toEqual([]);
    expect(await titles(`filters[topics][id][$eq]=${topicId(9_899)}`)).toEqual(['many', 'most']);
    const back = await answer(`topics?filters[pages][title][$eq]=most&sort=name:desc&populate=pages`);
    expect(back.data[0]).toMatchObject({ name: name(11_999), pages: [{ title: 'most' }] });
    await answer('pages?sort=topics.name:desc,title');
    await answer('pages?sort=topics.name,title:desc');
    await answer('pages?_q=most&populate[topics][fields]=name&populate[topics][sort]=name:desc');
    await answer('pages?_q=topic');
    const [page] = (await answer('pages?filters[title][$eq]=most&populate[topics][fields][0]=name')).data;
    expect(page?.['topics']).toHaveLength(TOPICS);
  }, 240_000);

  it('shows later changes, also of one that loses most of its links', async () => {
    await write('many', { topics: { connect: [topicId(9_900)], disconnect: [topicId(0)] } });
    expect(await titles(`filters[topics][name][$eq]=${name(0)}`)).toEqual(['few', 'most']);
    expect(await titles(`filters[topics][name][$eq]=${name(9_900)}`)).toEqual(['many', 'most']);
    const {
      data: [topic],
    } = await answer(`topics?filters[name][$eq]=${name(5)}`);
    for (const { server } of engines) {
      const path = `topics/${topic?.['documentId']}`;
      const { status } = await send('PUT', `${server.url}/api/${path}`, { name: 'renamed' });
      // 202: as above.
      expect([200, 202]).toContain(status);
    }
    expect(await titles('filters[topics][name][$eq]=renamed')).toEqual(['many', 'most']);
    await write('most', { topics: [topicId(1), topicId(11_999)] });
    expect(await titles(`filters[topics][name][$eq]=${name(11_999)}`)).toEqual(['most']);
    expect(await titles('filters[topics][name][$eq]=renamed')).toEqual(['many']);
    const list = Array.from({ length: TOPICS }, (_, n) => ({ text: `text ${n}` }));
    await write('parts', { list });
    expect(await titles('filters[list][text][$eq]=text 11999')).toEqual(['parts']);
    await answer('pages?filters[title][$eq]=parts&populate=list');
    expect(await jsonOf(['parked', 'list', '--json', '--data', folders[1]])).toEqual([]);
  }, 240_000);
});
