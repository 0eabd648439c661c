import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AS_RECORDED } from '../conformance/run-corpus.ts';
import { startOnCorpus } from '../support/loaded-corpus.ts';
import { generateQuery } from '../support/naive-queries.ts';
import { createRandom, type Random } from '../support/naive-random.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';
import type { RunningServer } from '../support/server.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 60);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

type List = { readonly total: number; readonly ids: readonly number[] };
type Sample = { readonly type: string; readonly scope: string; readonly filters: string };

let server: RunningServer;
const registry = conformanceRegistry();
const types = [...registry.contentTypes.values()].filter(({ uid }) => uid.startsWith('api::'));

beforeAll(async () => {
  server = await startOnCorpus({ env: AS_RECORDED });
});
afterAll(() => server?.dispose());

/** Returns a random filter on a random type. It asks for all locales, since a `locale` at the top of a filter means the parameter. */
function sampleOf(random: Random): Sample {
  const type = random.pick(types);
  const { filters } = generateQuery(random, { registry }, type.uid, 4);
  return {
    type: type.pluralName,
    scope: `status=${random.pick(['draft', 'published'])}&locale=*`,
    filters,
  };
}

/** Returns the filter at another place, e.g. `filters[$and][0]`. */
const moved = (filters: string, place: string) => filters.replace(/(^|&)filters/g, `$1filters${place}`);

async function ask(type: string, query: string): Promise<List> {
  const url = `${server.url}/api/${type}?${query}`;
  const answer = await fetch(url);
  const body = (await answer.json()) as {
    readonly data: readonly { readonly id: number }[];
    readonly meta: { readonly pagination: { readonly total: number } };
  };
  expect(answer.status, `seed ${SEED}: ${url} ${JSON.stringify(body)}`).toBe(200);
  return { total: body.meta.pagination.total, ids: body.data.map(({ id }) => id) };
}

describe(`lists over HTTP (seed ${SEED}, ${RUNS} runs)`, () => {
  const all = 'pagination[pageSize]=100';
  const sorted = (list: List) => [...list.ids].sort((a, b) => a - b);

  it('obey the laws of logic: groups of one, double negation, and-or, null or not', async () => {
    const random = createRandom(SEED);
    let matching = 0;
    for (let run = 0; run < RUNS; run++) {
      const { type, scope, filters } = sampleOf(random);
      const other = generateQuery(random, { registry }, typeOf(type).uid, 2).filters;
      const list = (query: string) => ask(type, `${query}&${scope}&${all}`);
      const one = await list(filters);
      if (one.total > 0) matching++;
      for (const place of ['[$and][0]', '[$or][0]', '[$not][$not]']) {
        expect(await list(moved(filters, place)), `seed ${SEED}: ${type} ${place} ${filters}`).toEqual(one);
      }
      const second = await list(moved(other, '[$and][0]'));
      const both = await list(`${moved(filters, '[$and][0]')}&${moved(other, '[$and][1]')}`);
      const either = await list(`${moved(filters, '[$or][0]')}&${moved(other, '[$or][1]')}`);
      expect(both.total + either.total, `seed ${SEED}: ${type} ${filters} with ${other}`).toBe(
        one.total + second.total,
      );
      const nulls = await list(`${moved(filters, '[$and][0]')}&filters[$and][1][key][$null]=true`);
      const others = await list(`${moved(filters, '[$and][0]')}&filters[$and][1][key][$null]=false`);
      expect(nulls.total + others.total, `seed ${SEED}: ${type} ${filters}`).toBe(one.total);
    }
    expect(matching).toBeGreaterThan(RUNS / 10);
  });

  it('have the same rows in any order, in pages and populated', async () => {
    const random = createRandom(SEED + 1);
    for (let run = 0; run < RUNS; run++) {
      const { type, scope, filters } = sampleOf(random);
      const sort = `sort=${randomSort(random, type)}`;
      const hint = `seed ${SEED}: ${type} ${filters} ${sort}`;
      const unsorted = await ask(type, `${filters}&${scope}&${all}`);
      const whole = await ask(type, `${filters}&${scope}&${sort}&${all}`);
      expect(sorted(whole), hint).toEqual(sorted(unsorted));
      const pages: number[] = [];
      for (let start = 0; start < whole.total; start += 40) {
        const page = `pagination[start]=${start}&pagination[limit]=40`;
        pages.push(...(await ask(type, `${filters}&${scope}&${sort}&${page}`)).ids);
      }
      expect(pages, hint).toEqual(whole.ids);
      expect(await ask(type, `${filters}&${scope}&${sort}&populate=*&${all}`), hint).toEqual(whole);
    }
  });

  it('never fail and never hang, for any mutation of a URL', async () => {
    const random = createRandom(SEED + 2);
    for (let run = 0; run < RUNS * 5; run++) {
      const { type, scope, filters } = sampleOf(random);
      const path = spoil(
        random,
        `/api/${type}?${filters}&${scope}&sort=${randomSort(random, type)}&populate=*`,
      );
      const answer = await fetch(server.url + path, { signal: AbortSignal.timeout(20_000) });
      const text = await answer.text();
      expect([200, 400, 404], `seed ${SEED}: ${path} ${text.slice(0, 200)}`).toContain(answer.status);
      expect(() => JSON.parse(text), path).not.toThrow();
    }
  });
});

function typeOf(pluralName: string) {
  const type = types.find((each) => each.pluralName === pluralName);
  if (type === undefined) throw new Error(`no type ${pluralName}`);
  return type;
}

/** Returns one or two sort keys, also through relations. */
function randomSort(random: Random, type: string): string {
  const key = (): string => {
    const path: string[] = [];
    let model = typeOf(type);
    for (let steps = random.between(0, 3); steps > 0; steps--) {
      const relations = [...model.attributes.values()].filter(({ kind }) => kind === 'relation');
      if (relations.length === 0) break;
      const relation = random.pick(relations);
      if (relation.kind !== 'relation' || !relation.target.startsWith('api::')) break;
      path.push(relation.name);
      model = registry.contentTypes.get(relation.target) ?? model;
    }
    return [...path, random.pick(['key', 'id', 'createdAt', 'documentId'])].join('.');
  };
  return `${key()}:${random.pick(['asc', 'desc'])},${key()}`;
}

const BITS = [
  '[',
  ']',
  '[]',
  '[0]',
  '[$not]',
  '[$or]',
  '[$eq]',
  '&',
  '=',
  '%',
  '%00',
  '%FF',
  '.',
  ',',
  ':',
].concat(
  [
    '*',
    '$',
    '-1',
    '1e400',
    '9'.repeat(30),
    '__proto__',
    'constructor',
    'null',
    '[on]',
    '[count]',
    '+',
    ';',
    '/',
  ],
  [
    'pagination[cursor]=',
    'explain=true',
    '_q=',
    'fields=',
    '%F0%9F%8D%95',
    '?',
    '[localizations]',
    '\\',
    "'",
  ],
);

/** Inserts, removes and overwrites a few characters after the path. */
function spoil(random: Random, path: string): string {
  let spoilt = path;
  for (let times = random.between(1, 4); times > 0; times--) {
    const at = random.between(spoilt.indexOf('?') + 1, spoilt.length);
    const dropped = random.between(0, 3);
    spoilt = spoilt.slice(0, at) + random.pick(BITS) + spoilt.slice(at + dropped);
  }
  return spoilt;
}
