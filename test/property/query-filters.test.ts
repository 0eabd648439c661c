import { expect, test } from 'vitest';
import { OPERATORS } from '../../services/query/operators.ts';
import { parseFilter } from '../../services/query/parse-filter.ts';
import { planList } from '../../services/query/plan-query.ts';
import { queryModelOf } from '../../services/query/query-model.ts';
import { parseQueryString } from '../../services/query/query-string.ts';
import { resolveFilter } from '../../services/query/resolve-filter.ts';
import type { ResolvedFilter } from '../../services/query/resolved-filter.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { type ReadIndex, WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { createNaiveContent, type NaiveContent } from '../support/naive-content.ts';
import { countMentions, matchesNaively } from '../support/naive-filter.ts';
import { type FilterTraits, generateQuery } from '../support/naive-queries.ts';
import { createRandom, type Random } from '../support/naive-random.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';

/** Number of filters. VARVE_PROPERTY_RUNS=20000 for a full run. */
const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 1500);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const QUERIES_PER_CONTENT = 50;
/** Limit of row variables of a filter. The cost of the enumeration is exponential in them. */
const MAX_MENTIONS = 5;

type Tally = {
  depth3: number;
  not: number;
  or: number;
  zone: number;
  nulls: number;
  matches: number;
  partial: number;
};

test(`filters mean what SEMANTICS section 1 says (seed ${SEED}, ${RUNS} queries)`, async () => {
  const random = createRandom(SEED);
  const registry = conformanceRegistry();
  const types = [...registry.contentTypes.keys()].filter((uid) => uid.startsWith('api::'));
  const seen = { operators: new Set<string>(), types: new Set<string>(), worlds: new Set<string>() };
  const tally: Tally = { depth3: 0, not: 0, or: 0, zone: 0, nulls: 0, matches: 0, partial: 0 };
  let content = createNaiveContent(random, registry);
  let index = await indexOf(registry, content);
  for (let run = 0; run < RUNS; run++) {
    if (run > 0 && run % QUERIES_PER_CONTENT === 0) {
      content = createNaiveContent(random, registry);
      index = await indexOf(registry, content);
    }
    const [type, world] = [random.pick(types), random.pick(WORLDS)];
    const { filters, traits } = generate(random, registry, type);
    const queryString = `${filters}&status=${world}&locale=*`;
    const wanted = naiveIds(content, registry, type, world, filters);
    const found = await indexedIds(index, registry, type, queryString);
    expect(found, `seed ${SEED}, run ${run}: ${type}?${queryString}`).toEqual({
      total: wanted.length,
      ids: wanted,
    });
    count(tally, traits, wanted.length, content.rows(type, world).length);
    for (const operator of traits.operators) seen.operators.add(operator);
    for (const scalar of traits.types) seen.types.add(scalar);
    seen.worlds.add(world);
  }
  console.log(`seed ${SEED}: ${RUNS} queries`, tally);
  // Quotas of the generator: a run without hard cases proves nothing.
  expect(tally.depth3).toBeGreaterThan(RUNS * 0.15);
  expect(tally.not).toBeGreaterThan(RUNS * 0.08);
  expect(tally.or).toBeGreaterThan(RUNS * 0.08);
  expect(tally.nulls).toBeGreaterThan(RUNS * 0.03);
  expect(tally.zone).toBeGreaterThan(0);
  expect(tally.partial).toBeGreaterThan(RUNS * 0.3);
  expect(seen.operators.size).toBe(Object.keys(OPERATORS).length);
  expect(seen.types.size).toBeGreaterThanOrEqual(14);
  expect(seen.worlds.size).toBe(2);
}, 900_000);

async function indexOf(registry: SchemaRegistry, content: NaiveContent): Promise<ReadIndex> {
  const index = createEmbeddedIndex({ registry });
  await index.apply(content.batch);
  return index;
}

/** Generates a filter. Skips filters whose enumeration would take too long. */
function generate(random: Random, registry: SchemaRegistry, type: Uid) {
  for (;;) {
    const generated = generateQuery(random, { registry }, type, MAX_MENTIONS);
    if (countMentions(resolve(registry, type, generated.filters)) <= MAX_MENTIONS) return generated;
  }
}

function resolve(registry: SchemaRegistry, type: Uid, filters: string): ResolvedFilter {
  const parsed = parseFilter(parseQueryString(filters)['filters'], 'filters');
  if (parsed === null) throw new Error(`no filter in ${filters}`);
  const problems: never[] = [];
  const model = queryModelOf(registry, type);
  const resolved = resolveFilter(parsed, model, { scope: { registry }, param: 'filters', problems });
  if (problems.length > 0) throw new Error(`${JSON.stringify(problems)} in ${filters}`);
  return resolved;
}

function naiveIds(
  content: NaiveContent,
  registry: SchemaRegistry,
  type: Uid,
  world: World,
  filters: string,
): number[] {
  const filter = resolve(registry, type, filters);
  const rows = content.rows(type, world).filter((row) => matchesNaively(filter, row));
  return rows.map((row) => Number(row.fields['id'])).sort((a, b) => a - b);
}

async function indexedIds(index: ReadIndex, registry: SchemaRegistry, type: Uid, queryString: string) {
  const plan = planList({ registry, type: contentTypeOf(registry, type), queryString, defaultLocale: 'en' });
  const { total, hits } = await index.search({ ...plan.search, from: 0, size: Number.POSITIVE_INFINITY });
  return {
    total,
    ids: hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id as number),
  };
}

function count(tally: Tally, traits: FilterTraits, matches: number, rows: number): void {
  if (traits.depth >= 3) tally.depth3++;
  if (traits.notAboveToMany) tally.not++;
  if (traits.orAboveToMany) tally.or++;
  if (traits.inZone) tally.zone++;
  if (traits.nullOperand) tally.nulls++;
  if (matches > 0) tally.matches++;
  if (matches > 0 && matches < rows) tally.partial++;
}
