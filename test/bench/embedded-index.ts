import { fileURLToPath } from 'node:url';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { benchmarkBatch, createRandom } from './embedded-data.ts';
import { BENCHMARK_QUERIES, type BenchmarkQuery } from './embedded-queries.ts';

/**
 * Times the embedded index alone: load, each benchmark query, and the same with a write before each read.
 * `node --expose-gc test/bench/embedded-index.ts [runs per query] [name contains] [times the usual content]`
 */
const runs = Number(process.argv[2] ?? 3000);
const only = process.argv[3] ?? '';
const times = Number(process.argv[4] ?? 1);

const megabytes = () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};

function registry(): SchemaRegistry {
  const loaded = loadContentTypes(fileURLToPath(new URL('../conformance/schema', import.meta.url)));
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return loaded.registry;
}

async function timed(index: ReadIndex, query: BenchmarkQuery, count: number, write?: () => Promise<void>) {
  const random = createRandom(count);
  const times = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    await write?.();
    const request = query.make(random);
    const start = performance.now();
    const answer = await index.search(request);
    times[i] = (performance.now() - start) * 1000;
    total += answer.total ?? 0;
  }
  const first = times[0] as number;
  times.sort();
  const mean = times.reduce((sum, time) => sum + time, 0) / count;
  const at = (share: number) => times[Math.floor(count * share)] as number;
  return { first, mean, p50: at(0.5), p99: at(0.99), matches: total / count };
}

function line(cells: readonly (string | number)[]): string {
  return cells
    .map((cell, i) => {
      const text = typeof cell === 'number' ? cell.toFixed(1) : cell;
      return i === 0 ? text.padEnd(34) : text.padStart(10);
    })
    .join('');
}

const schema = registry();
const batch = benchmarkBatch(schema, { times });
const index = createEmbeddedIndex({ registry: schema });
const before = megabytes();
const start = performance.now();
await index.apply(batch);
const loading = performance.now() - start;
console.log(
  `${batch.rows.length} rows and ${batch.links.length} links in ${loading.toFixed(0)} ms,`,
  `${(megabytes() - before).toFixed(0)} MB without the sources`,
);

console.log(line(['query', 'µs mean', 'p50', 'p99', 'first', 'matches']));
for (const query of BENCHMARK_QUERIES.filter(({ name }) => name.includes(only))) {
  const { first, mean, p50, p99, matches } = await timed(index, query, runs);
  console.log(line([query.name, mean, p50, p99, first, matches]));
}
console.log(`${(megabytes() - before).toFixed(0)} MB with sort orders and n-grams`);

const published = batch.rows.filter(
  ({ type, version }) => type.includes('restaurant') && version === 'published',
);
let written = 0;
const writeOne = async () => {
  const change = published[written++ % published.length];
  if (change?.row == null) return;
  const fields = { ...change.row.fields, id: 1e6 + written, name: `New ${written}`, price: written };
  await index.apply({ position: 1n, rows: [{ ...change, row: { ...change.row, fields } }], links: [] });
};
console.log('\nwith one restaurant published before each read');
for (const query of BENCHMARK_QUERIES.filter(({ name }) => name.includes(only))) {
  const { mean, p50, p99 } = await timed(index, query, Math.ceil(runs / 10), writeOne);
  console.log(line([query.name, mean, p50, p99]));
}
