import { defined } from '../../../defined.ts';
import { rest } from '../../../turns/slice.ts';
import { isInRange } from '../../facet-values.ts';
import type { FacetCount, FacetCounts, FacetRange, FacetRequest } from '../../facets.ts';
import type { World } from '../../read-index.ts';
import { sortValue } from '../columns/indexed-column.ts';
import { dictionaryOf } from '../columns/term-column.ts';
import { type Bits, decodeRows, STRETCH } from '../lists/bits.ts';
import { listCount, listEntry } from '../lists/row-lists.ts';
import { columnOf, type RowSetIndex, type Step } from '../rows/row-set.ts';
import { type RowSets, stepsFrom } from '../rows/row-sets.ts';
import { createBackwardCount, leadsToMany } from './count-backward.ts';
import {
  type CountedFacet,
  type CountedField,
  countedNumbers,
  countedRanges,
  countedTerms,
} from './counted-facet.ts';
import { type CountedValues, createFacetSelection } from './select-facets.ts';

/** Counts values by number. */
type Counter = CountedFacet & {
  /** Records the value of a row at the end of the path, for the row that is being counted. */
  readonly note: (end: number, counted: number) => void;
};

/** Rows that a search matches, and their number. */
export type Matches = { readonly matched: Bits; readonly count: number };

type FacetSource = { readonly rowSets: RowSets; readonly world: World; readonly rowSet: RowSetIndex };

/** Counts one facet over the matches of a search. If a call ends with its slice, the next call continues. */
export function createFacetCount(
  from: FacetSource,
  request: FacetRequest,
  { matched, count: matches }: Matches,
): () => FacetCounts {
  const field = bindFacet(from, request);
  const count = leadsToMany(field, matches)
    ? createBackwardCount(field, request, matched)
    : createForwardCount(field, request, matched);
  let select: (() => FacetCount[]) | undefined;
  return () => {
    const counted = count();
    select ??= createSelection(counted.values(), request);
    const values = select();
    return { values, ...defined({ stats: counted.stats() }) };
  };
}

/**
 * Traverses the path from each row that matches, and counts the values at its end. If a call ends with its slice, the next call continues.
 */
function createForwardCount(field: CountedField, request: FacetRequest, matched: Bits): () => CountedFacet {
  const visit = createVisit(field.steps);
  let counter: Counter | undefined;
  let word = 0;
  let inStretch = 0;
  return () => {
    counter ??= createCounter(field, request);
    const { note } = counter;
    for (; word < matched.length; word += STRETCH, inStretch = 0) {
      const decoded = decodeRows(matched, word);
      while (inStretch < decoded.count) {
        const row = decoded.rows[inStretch] as number;
        inStretch++;
        rest(visit(row, note));
      }
    }
    return counter;
  };
}

/** Selects the values of a facet. All ranges are selected, in the order of the request. */
function createSelection(values: CountedValues, request: FacetRequest): () => FacetCount[] {
  if (request.ranges === undefined) return createFacetSelection(values, request);
  const { size, countAt, nameAt } = values;
  return () => Array.from({ length: size }, (_, at) => ({ value: nameAt(at), count: countAt(at) }));
}

function bindFacet({ rowSets, world, rowSet }: FacetSource, { path, field }: FacetRequest): CountedField {
  const { steps, end } = stepsFrom(rowSets, rowSet, world, path);
  return { from: rowSet.size, steps, column: columnOf(end, field), rows: end.size };
}

type Note = (end: number, counted: number) => void;

/** Calls `note` for each row at the end of the path, once even if many paths lead there. Returns the number of steps. */
function createVisit(steps: readonly Step[]): (row: number, note: Note) => number {
  const last = steps.at(-1);
  if (last === undefined) {
    return (row, note) => {
      note(row, row);
      return 1;
    };
  }
  const visited = steps.map(({ target }) => new Int32Array(target.size).fill(-1));
  const traverse = (level: number, row: number, counted: number, note: Note): number => {
    const { down, target } = steps[level] as Step;
    const seen = visited[level] as Int32Array;
    const count = listCount(down.lists, row);
    let work = count;
    for (let index = 0; index < count; index++) {
      const linked = listEntry(down.lists, row, index);
      if (linked >= target.size || seen[linked] === counted) continue;
      seen[linked] = counted;
      if (level === steps.length - 1) note(linked, counted);
      else work += traverse(level + 1, linked, counted, note);
    }
    return work;
  };
  return (row, note) => 1 + traverse(0, row, row, note);
}

function createCounter(field: CountedField, request: FacetRequest): Counter {
  const { ranges } = request;
  if (ranges !== undefined) return createRangeCounter(field, ranges);
  return field.column.store.kind === 'terms'
    ? createTermCounter(field, request)
    : createNumberCounter(field, request);
}

function createTermCounter({ column, rows }: CountedField, { type }: FacetRequest): Counter {
  if (column.store.kind !== 'terms') throw new Error(`${column.field} contains numbers`);
  const dictionary = dictionaryOf(column.store.column, rows);
  const counts = new Int32Array(dictionary.values.length);
  const lastCounted = new Int32Array(dictionary.values.length).fill(-1);
  return {
    note(end, counted) {
      const term = dictionary.terms[end] as number;
      if (term < 0 || lastCounted[term] === counted) return;
      lastCounted[term] = counted;
      counts[term] = (counts[term] as number) + 1;
    },
    ...countedTerms(dictionary, type, counts),
  };
}

function createNumberCounter({ column }: CountedField, { type }: FacetRequest): Counter {
  const found = new Map<number, { count: number; lastCounted: number }>();
  const counted = () => {
    const counts = Array.from(found.values(), ({ count }) => count);
    return countedNumbers([...found.keys()], type, counts);
  };
  return {
    note(end, counting) {
      const value = sortValue(column, end);
      if (value === null) return;
      const number = Number(value);
      const known = found.get(number);
      if (known === undefined) found.set(number, { count: 1, lastCounted: counting });
      else if (known.lastCounted !== counting) {
        known.lastCounted = counting;
        known.count++;
      }
    },
    values: () => counted().values(),
    stats: () => counted().stats(),
  };
}

function createRangeCounter({ column }: CountedField, ranges: readonly FacetRange[]): Counter {
  const counts = ranges.map(() => 0);
  const lastCounted = ranges.map(() => -1);
  return {
    note(end, counted) {
      const value = sortValue(column, end);
      if (value === null) return;
      for (const [at, range] of ranges.entries()) {
        if (lastCounted[at] === counted || !isInRange(range, Number(value))) continue;
        lastCounted[at] = counted;
        counts[at] = (counts[at] as number) + 1;
      }
    },
    ...countedRanges(ranges, counts),
  };
}
