import { PUBLICATION_STATE_FIELD } from '../../bool-query.ts';
import type { SortKey, SortPosition } from '../../read-index.ts';
import { readInteger, storedValue } from '../documents/stored-value.ts';
import { type DocumentLayout, type PlacedScalar, sortFieldNames } from '../layout/document-layout.ts';
import { findColumn } from '../layout/find-column.ts';
import type { SortDsl } from './dsl.ts';

/** A sort key as a field of the documents. */
export type SortClause = {
  readonly field: string;
  readonly direction: SortKey['direction'];
  readonly stored: StoredAs;
};

/** Form of a field's stored values: 64-bit integers as sortable text, other integers and doubles unchanged. */
type StoredAs = 'text' | 'integer' | 'whole' | 'double';

/** Ascending id. It is the default order, and the last tie-break of every other order. */
const BY_ID: SortClause = { field: 'f.id', direction: 'asc', stored: 'whole' };

/** Relevance, with the best first. */
const BY_SCORE: SortClause = { field: '_score', direction: 'desc', stored: 'double' };

/** Returns the order of relevance. `ties`: the order of documents with the same relevance. */
export function byRelevance(ties: readonly SortClause[]): readonly SortClause[] {
  return [BY_SCORE, ...ties];
}

/**
 * Returns the sort keys as fields of the documents, or null if one of them is outside the copied rows or a distance. Throws if the schema
 * does not have an attribute.
 */
export function planSort(layout: DocumentLayout, sort: readonly SortKey[]): readonly SortClause[] | null {
  const clauses = sort.flatMap((key) => sortClause(layout, key) ?? []);
  return clauses.length < sort.length ? null : [...clauses, BY_ID];
}

function sortClause(layout: DocumentLayout, key: SortKey): SortClause | undefined {
  // Elasticsearch's own distances differ from ours by millimetres, and so would the order.
  if ('nearest' in key) return undefined;
  const { path, field, direction } = key;
  const column = findColumn(layout, path, field);
  if (column === undefined) return undefined;
  const stored = storedAs(column.scalar);
  if (column.list === undefined) return { field: column.field, direction, stored };
  const names = sortFieldNames(path, field);
  return { field: `s.${direction === 'asc' ? names.low : names.high}`, direction, stored };
}

/** Returns the DSL of sort keys. NULL counts as greater than every value. `reversed`: the same order from its other end. */
export function sortDsl(clauses: readonly SortClause[], reversed = false): readonly SortDsl[] {
  return clauses.map(({ field, direction }) => {
    const ascending = (direction === 'asc') !== reversed;
    if (field === BY_SCORE.field) return { [field]: { order: ascending ? 'asc' : 'desc' } };
    const isNullLast = direction === 'desc' ? ascending : !reversed;
    return { [field]: { order: ascending ? 'asc' : 'desc', missing: isNullLast ? '_last' : '_first' } };
  });
}

function storedAs({ name, type, fieldType }: PlacedScalar): StoredAs {
  if (name === PUBLICATION_STATE_FIELD) return 'whole';
  if (fieldType === 'keyword' || fieldType === 'json') return 'text';
  if (fieldType === 'long') return 'integer';
  return type === 'decimal' || type === 'float' ? 'double' : 'whole';
}

type SortValue = SortPosition[number];
type WireValue = string | number | null;

/** Values that Elasticsearch accepts and returns for a missing number. */
const MISSING = { whole: '9223372036854775807', double: 'Infinity', text: null, integer: null } as const;

/** The values for a missing number that comes last in a descending order. */
const MISSING_LAST = { ...MISSING, whole: '-9223372036854775808', double: '-Infinity' } as const;

/** Returns a position in the order in the form of `search_after`. */
export function writePosition(clauses: readonly SortClause[], position: SortPosition): readonly WireValue[] {
  return clauses.map((clause, i) => writeValue(clause, position[i] ?? null));
}

function writeValue({ stored, direction }: SortClause, value: SortValue): WireValue {
  if (value === null) return (direction === 'desc-null-last' ? MISSING_LAST : MISSING)[stored];
  if (stored === 'text') return String(value);
  return stored === 'integer' ? String(storedValue('long', value)) : Number(value);
}

/** Returns the position of a hit, from its sort values. */
export function readPosition(clauses: readonly SortClause[], sort: readonly WireValue[]): SortPosition {
  return clauses.map(({ stored }, i) => readValue(stored, sort[i] ?? null));
}

function readValue(stored: StoredAs, value: WireValue): SortValue {
  if (value === null || stored === 'text') return value;
  if (stored === 'integer') return readInteger(String(value));
  if (stored === 'double') return Number.isFinite(Number(value)) ? Number(value) : null;
  return Math.abs(Number(value)) >= Number(MISSING.whole) ? null : Number(value);
}
