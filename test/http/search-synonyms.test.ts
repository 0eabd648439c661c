import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { startFleet } from '../support/fleet.ts';
import { replaced } from '../support/replaced-workers.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const LONG = { ...takesMinutes('a changed file of synonyms'), timeout: 300_000 };
const RESTAURANT = 'api::restaurant.restaurant';

/** Returns the names of the restaurants that a search finds, and the tag of its answer. */
async function search({ url }: Pick<RunningServer, 'url'>, words: string, headers = {}) {
  const answer = await fetch(`${url}/api/restaurants?search=${encodeURIComponent(words)}`, { headers });
  expect(answer.status).toBe(200);
  const { data } = (await answer.json()) as { readonly data: readonly { readonly name: string }[] };
  return { names: data.map(({ name }) => name), tag: answer.headers.get('etag') };
}

it(
  'uses a changed file of synonyms on SIGHUP, and keeps the old one if the new one is wrong',
  LONG,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-synonyms-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'synonyms.json');
    const write = (groups: unknown) => writeFileSync(file, JSON.stringify({ [RESTAURANT]: { en: groups } }));
    write([['taberna', 'wine bar']]);
    const server = await startServer({
      contentTypes: 'examples/restaurants',
      arguments: ['--examples', '--synonyms', file],
    });
    onTestFinished(() => server.dispose());
    const old = await search(server, 'wine bar');
    expect(old.names).toEqual(['Taberna do Rio']);
    expect((await search(server, 'bodega')).names).toEqual([]);

    const first = server.worker() ?? 0;
    write([['taberna', 'bodega']]);
    // The process that is replaced may close an idle connection while the next request is sent.
    expect((await search(server, 'bodega', { connection: 'close' })).names).toEqual([]);
    process.kill(server.supervisor, 'SIGHUP');
    await replaced(server, first);
    expect((await search(server, 'bodega')).names).toEqual(['Taberna do Rio']);
    const without = await search(server, 'wine bar');
    expect(without.names).toEqual([]);
    expect(without.tag).not.toBe(old.tag);

    const second = server.worker();
    write([['alone']]);
    process.kill(server.supervisor, 'SIGHUP');
    await expect.poll(server.output, { timeout: 200_000 }).toMatch(/--synonyms .* is not as expected/);
    expect((await search(server, 'bodega')).names).toEqual(['Taberna do Rio']);
    expect(server.worker()).toBe(second);
  },
);

const SYNONYMS = '/_varve/synonyms';

it('sets synonyms while it serves, and refuses wrong ones', async () => {
  const server = await startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] });
  onTestFinished(() => server.dispose());
  const { call, data } = createApiClient(server.url);
  const before = await search(server, 'bodega');
  expect(before.names).toEqual([]);
  // A repeated search is remembered.
  await search(server, 'bodega');

  const groups = { en: [['taberna', 'bodega'], { from: ['quay'], to: ['wine bar'] }] };
  const set = await call('PUT', `${SYNONYMS}/${RESTAURANT}`, { data: groups });
  expect(set).toMatchObject({ status: 200, data: groups });
  expect(set.headers.get('varve-position')).toMatch(/^\d+$/);
  const after = await search(server, 'bodega');
  expect(after.names).toEqual(['Taberna do Rio']);
  expect(after.tag).not.toBe(before.tag);
  const { results } = await call<never>('POST', '/1/indexes/*/queries', {
    requests: [{ indexName: 'restaurants', query: 'bodega' }],
  }).then((answer) => answer as unknown as { readonly results: readonly { readonly nbHits: number }[] });
  expect(results[0]?.nbHits).toBe(1);
  await data('PUT', `${SYNONYMS}/*`, { data: { '*': [['taberna', 'winery']] } });
  expect((await search(server, 'winery')).names).toEqual(['Taberna do Rio']);
  expect(await data('GET', SYNONYMS)).toEqual({
    [RESTAURANT]: groups,
    '*': { '*': [['taberna', 'winery']] },
  });
  expect(await data('GET', `${SYNONYMS}/${RESTAURANT}`)).toEqual(groups);

  const refused = async (type: string, body: unknown) => {
    const { status, error } = await call('PUT', `${SYNONYMS}/${type}`, body);
    return [status, error];
  };
  const errors = (path: string, message: RegExp) => ({
    name: 'ValidationError',
    code: 'invalid-synonyms',
    details: { errors: [{ path, message: expect.stringMatching(message) }] },
  });
  for (const [type, body, path, message] of [
    [
      'api::none.none',
      { data: {} },
      'type',
      /^must be the uid of a content type or \*, got "api::none.none"/,
    ],
    [RESTAURANT, { data: { en: ['alone'] } }, 'en.0', /^expected 2 to 50 phrases/],
    [RESTAURANT, { data: { en: [['alone']] } }, 'en.0', /expected array to have >=2 items/],
    [
      RESTAURANT,
      { data: { en: [{ from: [], to: ['car'] }] } },
      'en.0.from',
      /expected array to have >=1 items/,
    ],
    [
      RESTAURANT,
      { data: { en: [['one two three four five six', 'car']] } },
      'en.0.0',
      /^expected one to five words$/,
    ],
    [RESTAURANT, { data: [] }, 'data', /expected record/],
  ] as const)
    expect(await refused(type, body)).toMatchObject([400, errors(path, message)]);
  expect((await refused(RESTAURANT, { groups }))[0]).toBe(400);
  expect((await call('GET', `${SYNONYMS}/api::none.none`)).status).toBe(400);

  await setsRules(server);

  await data('PUT', `${SYNONYMS}/${RESTAURANT}`, { data: {} });
  expect(await search(server, 'bodega')).toMatchObject({ names: [] });
  expect(await data('GET', `${SYNONYMS}/${RESTAURANT}`)).toEqual({});
  await call('POST', '/_varve/tokens', { data: { name: 'one', type: 'read-only' } });
  for (const method of ['GET', 'PUT'])
    for (const path of [`${SYNONYMS}/*`, `${RULES}/${RESTAURANT}`])
      expect((await call(method, path, method === 'PUT' ? { data: {} } : undefined)).status).toBe(403);
});

const RULES = '/_varve/rules';

/** Sets rules and checks their effect, on a server that has synonyms too. */
async function setsRules(server: RunningServer) {
  const { call, data } = createApiClient(server.url);
  const found = await data<readonly { readonly documentId: string; readonly name: string }[]>(
    'GET',
    '/api/restaurants?search=casa&sort=name',
  );
  const [, last, ...others] = await data<typeof found>('GET', '/api/restaurants?sort=name:desc');
  if (last === undefined) throw new Error('there are restaurants');
  const before = await search(server, 'winery');
  expect(before.names).toEqual(['Taberna do Rio']);
  // A repeated search is remembered.
  await search(server, 'winery');
  const rules = [{ when: 'winery', pin: [last.documentId] }];
  const set = await call('PUT', `${RULES}/${RESTAURANT}`, { data: rules });
  expect(set).toMatchObject({ status: 200, data: rules });
  expect(set.headers.get('varve-position')).toMatch(/^\d+$/);
  const after = await search(server, 'winery');
  expect(after.names).toEqual([last.name, 'Taberna do Rio']);
  expect(after.tag).not.toBe(before.tag);
  expect(await data('GET', RULES)).toEqual({ [RESTAURANT]: rules });

  type Ranking = {
    readonly rules: readonly object[];
    readonly hits: readonly { readonly pinned: boolean }[];
  };
  const tried = await call<typeof found>('POST', `${RULES}/${RESTAURANT}/preview`, {
    data: { search: 'winery', rules: [{ when: 'winery', filter: 'filters[name]=Taberna do Rio' }] },
  });
  expect(tried.data.map(({ name }) => name)).toEqual(['Taberna do Rio']);
  const stored = await call<typeof found>('POST', `${RULES}/${RESTAURANT}/preview`, {
    data: { search: 'winery' },
  });
  expect(stored.data.map(({ name }) => name)).toEqual([last.name, 'Taberna do Rio']);
  const { ranking } = stored.meta as unknown as { readonly ranking: Ranking };
  expect(ranking).toMatchObject({ rules, hits: [{ pinned: true }, { pinned: false }] });
  // Nothing was stored.
  expect(await search(server, 'winery')).toEqual(after);
  const bad = await call('POST', `${RULES}/${RESTAURANT}/preview`, { data: { rules } });
  expect(bad).toMatchObject({ status: 400, error: { code: 'invalid-rules' } });

  const hidden = found.map(({ documentId }) => documentId);
  await data('PUT', `${RULES}/${RESTAURANT}`, { data: [{ when: 'casa', hide: hidden }] });
  expect((await search(server, 'casa')).names).toEqual([]);
  expect(others.length).toBeGreaterThan(0);
  await data('PUT', `${RULES}/${RESTAURANT}`, {
    data: [{ when: 'no stars', filter: 'filters[stars][$null]=true' }],
  });
  const starless = await data<typeof found>('GET', '/api/restaurants?filters[stars][$null]=true');
  expect(new Set((await search(server, 'no stars')).names)).toEqual(
    new Set(starless.map(({ name }) => name)),
  );

  const wrong = await call('PUT', `${RULES}/${RESTAURANT}`, { data: [{ when: 'casa' }] });
  expect(wrong).toMatchObject({ status: 400, error: { name: 'ValidationError', code: 'invalid-rules' } });
  expect((await call('GET', `${RULES}/api::none.none`)).status).toBe(400);
  await data('PUT', `${RULES}/${RESTAURANT}`, { data: [] });
  expect(await data('GET', RULES)).toEqual({});
  expect((await search(server, 'casa')).names).toEqual(expect.arrayContaining(found.map(({ name }) => name)));
}

it(
  'uses synonyms that another process of the log has set',
  takesMinutes('synonyms of two processes'),
  async () => {
    const fleet = await startFleet({
      size: 2,
      contentTypes: 'examples/restaurants',
      arguments: ['--examples'],
    });
    onTestFinished(fleet.dispose);
    await fleet.leader();
    const [first, second] = fleet.members.map((member) => member.server());
    if (first === undefined || second === undefined) throw new Error('two processes must run');
    const at = async (server: RunningServer, other: RunningServer, groups: object) => {
      const { status, headers } = await createApiClient(server.url).call('PUT', `${SYNONYMS}/*`, {
        data: groups,
      });
      expect(status).toBe(200);
      const position = headers.get('varve-position') ?? '';
      return (words: string) => search(other, words, { 'varve-min-position': position });
    };
    const there = await at(first, second, { en: [['taberna', 'bodega']] });
    expect((await there('bodega')).names).toEqual(['Taberna do Rio']);
    const here = await at(second, first, { en: [['taberna', 'winery']] });
    expect((await here('winery')).names).toEqual(['Taberna do Rio']);
    expect((await here('bodega')).names).toEqual([]);
  },
);

it(
  'uses new synonyms in every worker as soon as they are set',
  takesMinutes('synonyms of workers'),
  async () => {
    const server = await startServer({
      contentTypes: 'examples/restaurants',
      arguments: ['--examples', '--workers', '2'],
    });
    onTestFinished(() => server.dispose());
    const { data } = createApiClient(server.url);
    for (const word of ['bodega', 'winery']) {
      await data('PUT', `${SYNONYMS}/*`, { data: { en: [['taberna', word]] } });
      // Each connection goes to the next worker.
      for (let connection = 0; connection < 4; connection++)
        expect((await search(server, word, { connection: 'close' })).names).toEqual(['Taberna do Rio']);
    }
  },
);
