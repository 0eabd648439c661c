import { defined } from '../defined.ts';
import type { ScalarType } from '../schema/content-type.ts';
import { usesOf } from '../schema/scalar-uses.ts';
import { foldWord } from '../search/fold-word.ts';
import { splitWords } from '../search/split-words.ts';
import type { Scalar } from './bool-query.ts';
import { compareCodePoints, fieldTypeOf } from './column.ts';
import type { FacetCount, FacetCounts, FacetRange, FacetRequest, FacetStats } from './facets.ts';

/** Returns the name of a value in a facet, as answers show it. */
export function facetText(type: ScalarType, value: Scalar): string {
  switch (fieldTypeOf(type)) {
    case 'boolean':
      return String(Boolean(value));
    case 'instant': {
      const text = new Date(Number(value)).toISOString();
      return type === 'date' ? text.slice(0, 10) : text;
    }
    case 'time-of-day':
      return new Date(Number(value)).toISOString().slice(11, 23);
    default:
      return String(value);
  }
}

/** Returns whether a facet may count an attribute's values. */
export function isCountable(type: ScalarType): boolean {
  return usesOf(type).isCounted;
}

/** Selects the counts that a request needs, in order. */
function selectFacets(counts: Iterable<FacetCount>, request: FacetRequest): FacetCount[] {
  const wanted = facetFilter(request.search ?? '');
  return [...counts]
    .filter(({ value }) => wanted(value))
    .sort(facetOrder(request))
    .slice(0, request.limit);
}

/** Returns the order of the values of a facet. */
export function facetOrder({
  byName,
}: Pick<FacetRequest, 'byName'>): (a: FacetCount, b: FacetCount) => number {
  if (byName === true) return (a, b) => compareCodePoints(a.value, b.value);
  return (a, b) => b.count - a.count || compareCodePoints(a.value, b.value);
}

/** Returns a filter for values. For each word of the text, some word of the value must begin with it. */
export function facetFilter(text: string): (value: string) => boolean {
  const wanted = foldedWords(text);
  if (wanted.length === 0) return () => true;
  return (value) => {
    const words = foldedWords(value);
    return wanted.every((start) => words.some((word) => word.startsWith(start)));
  };
}

function foldedWords(text: string): readonly string[] {
  return splitWords(text, 'en').map(({ word }) => foldWord(word));
}

/** Returns whether a facet has statistics, such as the smallest and the largest of its values. */
function hasStats({ type, ranges }: FacetRequest): boolean {
  return ranges === undefined && ['number', 'instant', 'time-of-day'].includes(fieldTypeOf(type));
}

/** Returns the answer to a facet request, from the number of rows with each value. */
export function presentFacet(request: FacetRequest, counts: ReadonlyMap<Scalar, number>): FacetCounts {
  const { type } = request;
  const texts = [...counts].map(([value, count]) => ({ value: facetText(type, value), count }));
  const stats = hasStats(request) ? statsOf(counts as ReadonlyMap<number, number>) : undefined;
  return { values: selectFacets(texts, request), ...defined({ stats }) };
}

/** Returns whether a value is in a range, which includes its `from` and excludes its `to`. */
export function isInRange({ from, to }: FacetRange, value: number): boolean {
  return (from === undefined || value >= from) && (to === undefined || value < to);
}

/** Number of digits of a sum of doubles that do not depend on the order of addition. */
const CERTAIN_DIGITS = 15;

/** Returns the statistics of numbers, each with the count of its rows; undefined if no row has one. */
export function statsOf(counts: Iterable<readonly [number, number]>): FacetStats | undefined {
  let [min, max, total] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  // A sum of doubles loses digits. `lost` collects them, and they are added at the end.
  let [sum, lost] = [0, 0];
  for (const [value, count] of counts) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    const part = value * count;
    const next = sum + part;
    lost += Math.abs(sum) >= Math.abs(part) ? sum - next + part : part - next + sum;
    sum = next;
    total += count;
  }
  if (total === 0) return undefined;
  const all = Number((sum + lost).toPrecision(CERTAIN_DIGITS));
  return { min, max, sum: all, avg: all / total };
}
