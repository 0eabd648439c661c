import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { num } from '../conformance/bench/common.mjs';
import { CONTENT_TYPES, importDataSet } from './bench-data.ts';
import { createRandom } from './embedded-data.ts';
import { get, type LoadRequest, measureLoad } from './measure-load.ts';
import { measureLibraries } from './search-libraries.ts';
import type { ServerProcess } from './server-process.ts';
import { startVarve } from './start-varve.ts';
import { createTypedWords, wordLoads, writeTexts } from './typed-words.ts';

/**
 * `npm run bench:search-load -- --collections DIR`: measures searches over HTTP that never repeat, on a server with the embedded index.
 * It has 20,000 restaurants and 60,000 reviews with sentences of Cranfield and CISI, and remembers no answer. Prints how long a start
 * takes with and without search in the schema. With `--libraries`, it also measures MiniSearch and Orama with the same rows.
 */
const options = new Command()
  .requiredOption('--collections <dir>', 'folder with the files of Cranfield and CISI')
  .option('--data <dir>', 'keep the loaded data here and use it again')
  .option('--connections <n>', 'connections', '16')
  .option('--seconds <n>', 'seconds per measurement', '5')
  .option('--only <part>', 'starts or searches')
  .option('--libraries <dir>', 'a folder where minisearch and @orama/orama are installed')
  .parse()
  .opts<{
    collections: string;
    data?: string;
    connections: string;
    seconds: string;
    only?: string;
    libraries?: string;
  }>();

const words = createTypedWords(options.collections);
const scratch = mkdtempSync(join(tmpdir(), 'varve-search-load-'));
const data = options.data ?? join(scratch, 'data');
try {
  if (!existsSync(data)) {
    const sizes = { restaurants: '20000', reviews: '60000' };
    importDataSet(data, scratch, sizes, { rewrite: (folder) => writeTexts(folder, words) });
  }
  if (options.only !== 'searches') await measureStarts();
  if (options.only !== 'starts') await measureSearches();
  if (options.libraries !== undefined) await measureLibraries(options.libraries, words);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measureSearches(): Promise<void> {
  const server = await startServer(CONTENT_TYPES);
  for (const { name, request } of loads()) await measure(server, name, request);
  console.log(`memory of the server: ${num(server.residentMiB(), 0)} MiB`);
  await server.stop();
}

type Load = { readonly name: string; readonly request: (i: number) => LoadRequest };

/** Returns the measured loads. Each makes as many different requests as a measurement needs. */
function loads(): readonly Load[] {
  const random = createRandom(11);
  const contains = (more: string) => () =>
    get(`/api/restaurants?filters[description][$containsi]=${words.oneWord(random)}${more}`);
  const reviews = () => {
    const query = encodeURIComponent(words.twoWords(random));
    const facets = 'score,author,verified,restaurant.kind,restaurant.category.name';
    return get(`/api/reviews?search=${query}&facets=${facets}&highlight=title,text`);
  };
  return [
    ...wordLoads(words).map(({ name, source }) => {
      const requests = source(5);
      return { name: `restaurants: ${name}`, request: (i: number) => requests.get(i) };
    }),
    { name: 'restaurants: $containsi', request: contains('') },
    {
      name: 'restaurants: $containsi, 5 facets',
      request: contains('&facets=stars,kind,category.name,tags.name,open'),
    },
    { name: 'reviews: search, 5 facets, highlights', request: reviews },
  ];
}

async function measure(server: ServerProcess, name: string, request: Load['request']): Promise<void> {
  let next = 0;
  const traffic = { base: server.base, request: () => request(next++) };
  const [connections, seconds] = [Number(options.connections), Number(options.seconds)];
  await measureLoad(traffic, connections, seconds / 2);
  const before = server.cpuSeconds();
  const { rate, p50, p99, requests, failed } = await measureLoad(traffic, connections, seconds);
  const cpu = ((server.cpuSeconds() - before) / Math.max(1, requests)) * 1_000;
  console.log(
    `${name.padEnd(52)} ${num(rate, 0).padStart(6)}/s  ${num(cpu, 2)} ms of a core each  ` +
      `p50 ${num(p50)} p99 ${num(p99)} ms  ${failed} failed`,
  );
}

/** Measures starts with and without search in the schema, in turns. An unmeasured start before each applies the change of types. */
async function measureStarts(): Promise<void> {
  const types = join(scratch, 'types');
  writeSearchedTypes(types);
  for (const round of [1, 2]) {
    await measureStart(`${round}, without search in the schema`, CONTENT_TYPES);
    await measureStart(`${round}, with search in the schema`, types);
  }
}

async function measureStart(name: string, folder: string): Promise<void> {
  await (await startServer(folder)).stop();
  const started = performance.now();
  const server = await startServer(folder);
  const [ready, cpu, memory] = [performance.now() - started, server.cpuSeconds(), server.residentMiB()];
  const asked = performance.now();
  for (const type of ['restaurants', 'reviews'])
    await fetch(`${server.base}/api/${type}?search=boundary%20lay`);
  const first = performance.now() - asked;
  console.log(
    `start ${name}: ready in ${num(ready / 1_000, 2)} s (${num(cpu, 2)} s of a core, ${num(memory, 0)} MiB), ` +
      `first searches answered ${num(first / 1_000, 2)} s later (${num(server.residentMiB(), 0)} MiB)`,
  );
  await server.stop();
}

/** Writes the same content types with search, so that a start reads their words. */
function writeSearchedTypes(folder: string): void {
  cpSync(CONTENT_TYPES, folder, { recursive: true });
  for (const name of ['restaurant', 'review']) {
    const file = join(folder, `api/${name}/content-types/${name}/schema.json`);
    const schema = JSON.parse(readFileSync(file, 'utf8')) as { readonly pluginOptions?: object };
    const pluginOptions = Object.assign({}, schema.pluginOptions, { varve: { search: {} } });
    writeFileSync(file, JSON.stringify(Object.assign(schema, { pluginOptions })));
  }
}

function startServer(contentTypes: string): Promise<ServerProcess> {
  return startVarve({ data, contentTypes, more: ['--answer-cache-bytes', '0'] });
}
