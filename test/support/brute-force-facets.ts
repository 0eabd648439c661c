import type { Scalar } from '../../shared/read-index/bool-query.ts';
import type { FacetCounts, FacetRequest } from '../../shared/read-index/facets.ts';

/** Counts a facet over the found rows. `rows` has one list of values per row. */
export function countNaively(
  { type, ranges, search, limit, byName }: FacetRequest,
  rows: readonly (readonly Scalar[])[],
): FacetCounts {
  if (ranges !== undefined) {
    const isIn = (from: number, to: number) => (value: Scalar) => Number(value) >= from && Number(value) < to;
    const values = ranges.map(({ name, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => ({
      ...{ value: name, count: rows.filter((row) => row.some(isIn(from, to))).length },
    }));
    return { values };
  }
  const counts = new Map<string, number>();
  const numbers: number[] = [];
  for (const row of rows) {
    const distinct = [...new Set(row)];
    for (const value of distinct) {
      const text = nameOf(type, value);
      counts.set(text, (counts.get(text) ?? 0) + 1);
      numbers.push(Number(value));
    }
  }
  const values = [...counts]
    .map(([value, count]) => ({ value, count }))
    .filter(({ value }) => search === undefined || hasBeginnings(value, search))
    .sort((a, b) => (byName ? 0 : b.count - a.count) || byCodePoints(a.value, b.value))
    .slice(0, limit);
  return numbers.length === 0 || !ORDERED.includes(type) ? { values } : { values, stats: statsOf(numbers) };
}

const ORDERED: readonly string[] = ['integer', 'decimal', 'float', 'date', 'datetime', 'time'];

function nameOf(type: string, value: Scalar): string {
  if (!['date', 'datetime', 'time'].includes(type)) return String(value);
  const text = new Date(Number(value)).toJSON();
  return type === 'date' ? text.slice(0, 10) : type === 'time' ? text.slice(11, -1) : text;
}

/** Returns true if every searched word begins a word of the value. The values of these tests have no accents. */
function hasBeginnings(value: string, search: string): boolean {
  const words = value
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ς', 'σ')
    .split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => word.startsWith(search));
}

function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Returns statistics. The tests have few values, and all are multiples of 0.25, so their sums are exact. */
function statsOf(numbers: readonly number[]): NonNullable<FacetCounts['stats']> {
  const sum = numbers.reduce((total, value) => total + value, 0);
  return { min: Math.min(...numbers), max: Math.max(...numbers), sum, avg: sum / numbers.length };
}
