import { PUBLICATION_STATE_FIELD } from '../../bool-query.ts';
import type { SortKey, SortPosition } from '../../read-index.ts';
import { readInteger, storedValue } from '../documents/stored-value.ts';
import {
  type DocumentLayout,
  type Place,
  type PlacedScalar,
  sortFieldNames,
} from '../layout/document-layout.ts';
import type { SortDsl } from './dsl.ts';

/** A sort key as a field of the documents. */
export type SortClause = {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
  readonly held: HeldAs;
};

/** Storage of a field's values: 64-bit integers as sortable text, other integers and doubles as they are. */
type HeldAs = 'text' | 'integer' | 'whole' | 'double';

/** Ascending id: the order without a sort, and the last tie-break of every other. */
const BY_ID: SortClause = { field: 'f.id', direction: 'asc', held: 'whole' };

/** Relevance: the best first. */
const BY_SCORE: SortClause = { field: '_score', direction: 'desc', held: 'double' };

/** The order of relevance, ties by id. */
export const RELEVANCE: readonly SortClause[] = [BY_SCORE, BY_ID];

/**
 * Returns the sort keys as fields of the documents, or null if one of them is outside the copied rows. Throws on an
 * attribute that the schema does not have.
 */
export function planSort(layout: DocumentLayout, sort: readonly SortKey[]): readonly SortClause[] | null {
  const clauses: SortClause[] = [];
  for (const key of sort) {
    const clause = sortClause(layout, key);
    if (clause === undefined) return null;
    clauses.push(clause);
  }
  return [...clauses, BY_ID];
}

function sortClause(layout: DocumentLayout, { path, field, direction }: SortKey): SortClause | undefined {
  let place: Place = layout.root;
  let inList = false;
  for (const attribute of path) {
    const step = place.steps.get(attribute);
    const next = step?.kind === 'component' ? step : step?.kind === 'relation' ? step.embedded : undefined;
    if (next === undefined) return undefined;
    inList ||= next.list;
    place = next.place;
  }
  const scalar = place.scalars.get(field);
  if (scalar === undefined) {
    // A copy may lack fields of its row.
    if (place.kind === 'embedded') return undefined;
    throw new Error(`${place.model.uid} has no field ${field} in the read index`);
  }
  const held = heldAs(scalar);
  if (!inList) return { field: `${place.prefix}f.${field}`, direction, held };
  const names = sortFieldNames(path, field);
  return { field: `s.${direction === 'asc' ? names.low : names.high}`, direction, held };
}

/** Presents sort keys; NULL counts as greater than every value. `reversed`: the same order from its other end. */
export function sortDsl(clauses: readonly SortClause[], reversed = false): readonly SortDsl[] {
  return clauses.map(({ field, direction }) => {
    const ascending = (direction === 'asc') !== reversed;
    if (field === BY_SCORE.field) return { [field]: { order: ascending ? 'asc' : 'desc' } };
    return { [field]: { order: ascending ? 'asc' : 'desc', missing: ascending ? '_last' : '_first' } };
  });
}

function heldAs({ name, type, fieldType }: PlacedScalar): HeldAs {
  if (name === PUBLICATION_STATE_FIELD) return 'whole';
  if (fieldType === 'keyword' || fieldType === 'json') return 'text';
  if (fieldType === 'long') return 'integer';
  return type === 'decimal' || type === 'float' ? 'double' : 'whole';
}

type SortValue = SortPosition[number];
type WireValue = string | number | null;

/** Value that Elasticsearch accepts and returns for a missing number. */
const MISSING = { whole: '9223372036854775807', double: 'Infinity', text: null, integer: null } as const;

/** Position in the order, as `search_after` accepts it. */
export function writePosition(clauses: readonly SortClause[], position: SortPosition): readonly WireValue[] {
  return clauses.map(({ held }, i) => writeValue(held, position[i] ?? null));
}

function writeValue(held: HeldAs, value: SortValue): WireValue {
  if (value === null) return MISSING[held];
  if (held === 'text') return String(value);
  return held === 'integer' ? String(storedValue('long', value)) : Number(value);
}

/** Position of a hit, from its sort values. */
export function readPosition(clauses: readonly SortClause[], sort: readonly WireValue[]): SortPosition {
  return clauses.map(({ held }, i) => readValue(held, sort[i] ?? null));
}

function readValue(held: HeldAs, value: WireValue): SortValue {
  if (value === null || held === 'text') return value;
  if (held === 'integer') return readInteger(String(value));
  if (held === 'double') return value === MISSING.double ? null : Number(value);
  return Number(value) >= Number(MISSING.whole) ? null : Number(value);
}
