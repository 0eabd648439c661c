import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createRandom, type Random } from './embedded-data.ts';
import type { TypedWords } from './typed-words.ts';

type Row = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly stars: number;
  readonly kind: string;
  readonly open: boolean;
};

type MiniSearchOptions = { readonly fields: readonly string[]; readonly storeFields: readonly string[] };
type MiniSearchIndex = {
  addAll(rows: readonly Row[]): void;
  search(query: string, options: object): readonly Readonly<Record<string, unknown>>[];
};
type Orama = {
  create(options: object): unknown;
  insertMultiple(index: unknown, rows: readonly Row[]): Promise<unknown>;
  search(index: unknown, request: object): Promise<unknown>;
};

const KINDS = ['bistro', 'diner', 'cafe', 'fine_dining', 'street'];
const FACETS = ['stars', 'kind', 'open'] as const;
const REQUESTS = 300;

/** Measures how long MiniSearch and Orama take to search rows like the restaurants with typos and prefixes, and to count three facets. */
export async function measureLibraries(folder: string, words: TypedWords): Promise<void> {
  const load = createRequire(join(folder, 'package.json'));
  const rows = restaurants(words);
  const MiniSearch = load('minisearch') as new (options: MiniSearchOptions) => MiniSearchIndex;
  const mini = new MiniSearch({ fields: ['name', 'description'], storeFields: [...FACETS] });
  mini.addAll(rows);
  const rules = { prefix: true, fuzzy: 0.2, combineWith: 'AND' };
  await measure('MiniSearch, 3 facets', words, async (query) => countFacets(mini.search(query, rules)));
  const orama = load('@orama/orama') as Orama;
  const schema = {
    id: 'string',
    name: 'string',
    description: 'string',
    stars: 'number',
    kind: 'enum',
    open: 'boolean',
  };
  const index = orama.create({ schema });
  await orama.insertMultiple(index, rows);
  const facets = { stars: { ranges: [0, 1, 2, 3, 4, 5].map((from) => ({ from, to: from })) }, open: {} };
  await measure('Orama, 2 facets', words, (term) =>
    orama.search(index, {
      term,
      properties: ['name', 'description'],
      tolerance: 1,
      threshold: 0,
      facets,
      limit: 25,
    }),
  );
}

function countFacets(found: readonly Readonly<Record<string, unknown>>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of found) {
    for (const facet of FACETS) {
      const name = `${facet}:${row[facet]}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

function restaurants(words: TypedWords): readonly Row[] {
  const random: Random = createRandom(7);
  return Array.from({ length: 20_000 }, (_, at) => ({
    id: String(at),
    name: `${words.oneWord(random)} ${at % 1_000}`,
    description: words.textOf(random, 30),
    stars: random.between(0, 5),
    kind: random.pick(KINDS),
    open: random.chance(0.8),
  }));
}

async function measure(
  name: string,
  words: TypedWords,
  search: (query: string) => Promise<unknown>,
): Promise<void> {
  const random = createRandom(5);
  for (let i = 0; i < REQUESTS / 4; i++) await search(words.twoWords(random));
  const before = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i++) await search(words.twoWords(random));
  const { user, system } = process.cpuUsage(before);
  const each = (user + system) / 1_000 / REQUESTS;
  console.log(
    `${name.padEnd(52)} ${Math.round(1_000 / each)}/s  ${each.toFixed(2)} ms of a core each, without HTTP`,
  );
}
