import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { answerList } from '../../services/query/answer-list.ts';
import { planList } from '../../services/query/plan-query.ts';
import { createEmbeddedIndex, type EmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { benchmarkBatch, createRandom, type Random, uid } from './embedded-data.ts';
import { createTypedWords } from './typed-words.ts';

/**
 * `npm run bench:search -- --collections DIR`: measures lists with search, facets and highlights over 20,000 restaurants and 60,000
 * reviews. Their texts are sentences of Cranfield and CISI. This process plans, finds and writes one answer after the other, without
 * HTTP. No query repeats. It is two words of a text: the second is cut to a prefix, and a fifth of the first words have a typo.
 */
const options = new Command()
  .requiredOption('--collections <dir>', 'folder with the files of Cranfield and CISI')
  .option('--requests <n>', 'of each kind', '2000')
  .parse()
  .opts<{ collections: string; requests: string }>();

type Kind = {
  readonly name: string;
  readonly type: string;
  readonly query: (words: string, one: string) => string;
};

const RESTAURANT_FACETS = 'facets=stars,kind,category.name,tags.name,open';
const REVIEW_FACETS = 'facets=score,author,verified,restaurant.kind,restaurant.category.name';
const KINDS: readonly Kind[] = [
  {
    ...{ name: 'restaurants: search, a first letter', type: 'restaurant' },
    query: (_, one) => `status=draft&search=${one.slice(0, 1)}`,
  },
  { name: 'restaurants: search', type: 'restaurant', query: (words) => `status=draft&search=${words}` },
  {
    ...{ name: 'restaurants: search, 5 facets, highlights', type: 'restaurant' },
    query: (words) => `status=draft&search=${words}&${RESTAURANT_FACETS}&highlight=name,description`,
  },
  {
    ...{ name: 'restaurants: $containsi', type: 'restaurant' },
    query: (_, one) => `status=draft&filters[description][$containsi]=${one}`,
  },
  {
    ...{ name: 'restaurants: $containsi, 5 facets', type: 'restaurant' },
    query: (_, one) => `status=draft&filters[description][$containsi]=${one}&${RESTAURANT_FACETS}`,
  },
  { name: 'reviews: search', type: 'review', query: (words) => `search=${words}` },
  {
    ...{ name: 'reviews: search, 5 facets, highlights', type: 'review' },
    query: (words) => `search=${words}&${REVIEW_FACETS}&highlight=title,text`,
  },
  { name: 'reviews: $containsi', type: 'review', query: (_, one) => `filters[text][$containsi]=${one}` },
];

const words = createTypedWords(options.collections);
const twoWords = (random: Random) => words.twoWords(random).replace(' ', '%20');

const registry = readRegistry();
const before = megabytes();
let started = process.cpuUsage();
const index = await openIndex();
await index.local.warm();
for (const kind of KINDS) await measure(kind);

/** Loads the rows, and prints how long the first search of each type takes. */
async function openIndex(): Promise<EmbeddedIndex> {
  started = process.cpuUsage();
  const opened = createEmbeddedIndex({ registry });
  await opened.apply(benchmarkBatch(registry, { textOf: words.textOf }));
  const loaded = megabytes();
  console.log(`rows: ${elapsed()} ms of one core with their making, ${Math.round(loaded - before)} MB`);
  for (const type of ['restaurant', 'review']) {
    started = process.cpuUsage();
    const asked = performance.now();
    await ask(opened, type, 'status=draft&search=boundary%20lay');
    const took = Math.round(performance.now() - asked);
    console.log(`words of ${type}s, read by their first search: ${took} ms, ${elapsed()} ms of one core`);
  }
  console.log(`words of both types: ${Math.round(megabytes() - loaded)} MB`);
  return opened;
}

/** Returns the CPU milliseconds since `started`. */
function elapsed(): number {
  const { user, system } = process.cpuUsage(started);
  return Math.round((user + system) / 1000);
}

async function measure({ name, type, query }: Kind): Promise<void> {
  const random = createRandom(3);
  const times: number[] = [];
  let found = 0;
  // Other queries warm up the index.
  for (let i = 0; i < 200; i++) await ask(index, type, query(twoWords(random), words.oneWord(random)));
  const cpu = process.cpuUsage();
  for (let i = 0; i < Number(options.requests); i++) {
    const text = query(twoWords(random), words.oneWord(random));
    const start = performance.now();
    found += await ask(index, type, text);
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(cpu);
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] as number).toFixed(2);
  // CPU time and not elapsed time: other processes of the machine may be busy.
  const mean = (user + system) / 1000 / times.length;
  const rate = Math.round(1000 / mean);
  const matches = Math.round(found / times.length);
  console.log(
    `${name.padEnd(44)} ${mean.toFixed(3)} ms of one core each, ${String(rate).padStart(6)}/s; ` +
      `p50 ${at(0.5)} p99 ${at(0.99)} ms, ${matches} found on average`,
  );
}

/** Answers a list, and returns the number of found rows. */
async function ask(of: ReadIndex, type: string, queryString: string): Promise<number> {
  const plan = planList({
    registry,
    type: contentTypeOf(registry, uid(type)),
    queryString,
    defaultLocale: 'en',
  });
  const body = await answerList(of, plan);
  return Number(/"total":(\d+)/.exec(body.subarray(-20_000).toString())?.[1] ?? 0);
}

function megabytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

function readRegistry(): SchemaRegistry {
  const types = loadContentTypes(fileURLToPath(new URL('../conformance/schema', import.meta.url)));
  if (types.kind === 'problems') throw new Error(JSON.stringify(types.problems));
  return types.registry;
}
