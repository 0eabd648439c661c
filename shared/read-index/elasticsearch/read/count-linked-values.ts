import { RequestError } from '../../../request-error.ts';
import type { Uid } from '../../../schema/content-type.ts';
import { TURNS } from '../../../turns/turns.ts';
import type { Scalar } from '../../bool-query.ts';
import { createCountBehind, type EntryLists, type PathToValues } from '../../count-behind.ts';
import { isInRange, presentFacet } from '../../facet-values.ts';
import type { FacetCounts, FacetRequest } from '../../facets.ts';
import type { RowSet } from '../../read-index.ts';
import type { Dsl } from '../plan/dsl.ts';
import { readKeys } from './read-keys.ts';
import type { Session } from './session.ts';
import { columnValues, keysBehind, rowSetBehind } from './traverse-step.ts';

/** Number of rows whose keys or links one request reads. */
const ROWS_AT_ONCE = 5_000;

/**
 * Counts a facet whose values the documents do not copy. It reads the keys of all matching rows, the links of each step, and the values at
 * the end. It reads each row once, even if many paths lead to it.
 */
export async function countLinkedValues(
  session: Session,
  type: Uid,
  facet: FacetRequest,
  query: Dsl,
): Promise<FacetCounts> {
  const { levels, found } = await readPath(session, type, facet, query);
  const { ranges } = facet;
  if (ranges !== undefined) {
    const counts = await countBehind(levels, found, ranges.length, (value, add) => {
      for (const [at, range] of ranges.entries()) if (isInRange(range, Number(value))) add(at);
    });
    return { values: ranges.map(({ name }, at) => ({ value: name, count: counts[at] ?? 0 })) };
  }
  const numbers = numberValues(found);
  const counts = await countBehind(levels, found, numbers.size, (value, add) =>
    add(numbers.get(value) as number),
  );
  return presentFacet(facet, new Map(Array.from(numbers, ([value, at]) => [value, counts[at] ?? 0])));
}

/** Levels of a path, and the value of each row at its end. */
type PathOfValues = {
  readonly levels: PathToValues['levels'];
  readonly found: readonly (Scalar | null)[];
};

async function readPath(session: Session, type: Uid, facet: FacetRequest, query: Dsl): Promise<PathOfValues> {
  const refuse = () => refuseTooMany(session.semiJoinLimit, facet);
  let keys = await readKeys(session, { type, query, field: 'key', atOnce: ROWS_AT_ONCE }, refuse);
  let rowSet: RowSet = { type, path: [] };
  const levels: PathToValues['levels'][number][] = [];
  for (const attribute of facet.path) {
    const next = await readLevel(session, { rowSet, keys, attribute });
    levels.push({ rows: keys.length, lists: next.lists });
    keys = next.keys;
    rowSet = rowSetBehind(session, rowSet, attribute);
    if (keys.length > session.semiJoinLimit) refuse();
  }
  const values = await columnValues(session, rowSet, keys, facet.field);
  return { levels, found: keys.map((key) => values.get(key) ?? null) };
}

/** Counts for each of `values` numbers the rows that reach it. `numbersOf` adds the numbers of a value at the end of the path. */
function countBehind(
  levels: PathToValues['levels'],
  found: PathOfValues['found'],
  values: number,
  numbersOf: (value: Scalar, add: (number: number) => void) => void,
) {
  const valuesOf: PathToValues['valuesOf'] = (end, add) => {
    const value = found[end] ?? null;
    if (value !== null) numbersOf(value, add);
  };
  const path = { levels, ends: found.length, values, valuesOf };
  const begin = () => createCountBehind(path, () => true);
  return TURNS.finish(TURNS.task(Number.POSITIVE_INFINITY), begin);
}

function numberValues(found: readonly (Scalar | null)[]): ReadonlyMap<Scalar, number> {
  const numbers = new Map<Scalar, number>();
  for (const value of found) if (value !== null && !numbers.has(value)) numbers.set(value, numbers.size);
  return numbers;
}

type Step = { readonly rowSet: RowSet; readonly keys: readonly number[]; readonly attribute: string };
type Level = { readonly keys: readonly number[]; readonly lists: EntryLists };

/** Reads the rows that an attribute of some rows refers to, each once, and the list of them for each row. */
async function readLevel(session: Session, { rowSet, keys, attribute }: Step): Promise<Level> {
  const numbers = new Map<number, number>();
  const [counts, heads] = [new Int32Array(keys.length), new Int32Array(keys.length)];
  const pool: number[] = [];
  for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
    const asked = keys.slice(from, from + ROWS_AT_ONCE);
    for (const [at, list] of (await keysBehind(session, rowSet, asked, attribute)).entries()) {
      const row = from + at;
      counts[row] = list.length;
      heads[row] = pool.length;
      for (const key of list) {
        const number = numbers.get(key) ?? numbers.size;
        numbers.set(key, number);
        if (list.length === 1) heads[row] = number;
        else pool.push(number);
      }
    }
  }
  return { keys: [...numbers.keys()], lists: { counts, heads, pool: Int32Array.from(pool) } };
}

function refuseTooMany(limit: number, { path, field }: FacetRequest): never {
  const way = path.join('.');
  const found = `more than ${limit} entries`;
  throw new RequestError('query-too-large', `Invalid facets: ${found} match, or are behind ${way}`, {
    param: 'facets',
    source: 'query',
    path: [...path, field].join('.'),
    found,
    accepted: `a narrower filter, or ${way} copied into the documents (pluginOptions.varve.denormalise.paths)`,
  });
}
