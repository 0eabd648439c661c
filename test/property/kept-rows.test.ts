import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import { benchmarkBatch, createRandom, type Random } from '../bench/embedded-data.ts';
import { BENCHMARK_QUERIES } from '../bench/embedded-queries.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';
import { createChanges } from '../support/random-changes.ts';
import { count } from '../support/takes-minutes.ts';

/** The set of the benchmark has sizes at which rows are bits, logs are read in parts, and sets are dropped. */
const ROUNDS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? count(1_500, 60));
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

/** Returns a random combination of the benchmark's conditions, on one type. */
function requestOf(random: Random): SearchRequest {
  const made = random.pick(BENCHMARK_QUERIES).make(random);
  const others = Array.from({ length: 4 }, () => random.pick(BENCHMARK_QUERIES).make(random));
  const [other, another] = others.filter((each) => each.type === made.type && each.world === made.world);
  const page = { from: random.below(40), size: 1 + random.below(30) };
  if (other === undefined) return { ...made, ...page };
  const excluded = another !== undefined && random.chance(0.5) ? { must_not: [another.query] } : {};
  const both = random.chance(0.7)
    ? { filter: [made.query, other.query] }
    : { should: [made.query, other.query] };
  return { ...made, ...page, query: { kind: 'bool', ...both, ...excluded } };
}

async function answerOf(index: ReadIndex, request: SearchRequest) {
  const { total, hits } = await index.search(request);
  return { total, rows: [...hits.rows] };
}

it(`answers are those without kept rows (seed ${SEED}, ${ROUNDS} rounds)`, { timeout: 240_000 }, async () => {
  const registry = conformanceRegistry();
  const batch = benchmarkBatch(registry);
  const random = createRandom(SEED);
  const write = createChanges(batch);
  const always = createEmbeddedIndex({ registry, keepSetsFrom: 0 });
  const usually = createEmbeddedIndex({ registry });
  const never = createEmbeddedIndex({ registry, keepSetsFrom: Number.POSITIVE_INFINITY, maxOrderedRows: 0 });
  const all = [always, usually, never];
  for (const index of all) await index.apply(batch);
  const asked: SearchRequest[] = [];
  for (let round = 2; round < ROUNDS + 2; round++) {
    const change = write(random, BigInt(round));
    for (const index of all) await index.apply(change);
    const request = random.chance(0.5) && asked.length > 0 ? random.pick(asked) : requestOf(random);
    if (asked.length < 40) asked.push(request);
    const expected = await answerOf(never, request);
    expect(await answerOf(always, request), JSON.stringify(request)).toEqual(expected);
    expect(await answerOf(usually, request), JSON.stringify(request)).toEqual(expected);
  }
});
