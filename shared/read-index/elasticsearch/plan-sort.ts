import type { SortKey } from '../read-index.ts';
import { type DocumentLayout, type Place, sortFieldNames } from './document-layout.ts';
import type { SortDsl } from './dsl.ts';

/** Ascending id: the order without a sort, and the last tie-break of every other. */
const BY_ID: SortDsl = { 'f.id': { order: 'asc' } };

/**
 * The sort keys as fields of the documents, or null when one of them leads beyond what is copied there. Throws on an attribute
 * that the schema does not have.
 */
export function planSort(layout: DocumentLayout, sort: readonly SortKey[]): readonly SortDsl[] | null {
  const clauses: SortDsl[] = [];
  for (const key of sort) {
    const field = sortField(layout, key);
    if (field === undefined) return null;
    // NULL counts as greater than every value.
    const missing = key.direction === 'asc' ? '_last' : '_first';
    clauses.push({ [field]: { order: key.direction, missing } });
    if (field === 'f.id') return clauses;
  }
  return [...clauses, BY_ID];
}

function sortField(layout: DocumentLayout, { path, field, direction }: SortKey): string | undefined {
  let place: Place = layout.root;
  let inList = false;
  for (const attribute of path) {
    const step = place.steps.get(attribute);
    const next = step?.kind === 'component' ? step : step?.kind === 'relation' ? step.embedded : undefined;
    if (next === undefined) return undefined;
    inList ||= next.list;
    place = next.place;
  }
  if (!place.scalars.has(field)) {
    // A copy may lack what its row has.
    if (place.kind === 'embedded') return undefined;
    throw new Error(`${place.model.uid} has no field ${field} in the read index`);
  }
  if (!inList) return `${place.prefix}f.${field}`;
  const names = sortFieldNames(path, field);
  return `s.${direction === 'asc' ? names.low : names.high}`;
}

/** The same order from its other end. */
export function reverseSort(clauses: readonly SortDsl[]): readonly SortDsl[] {
  return clauses.map((clause) =>
    Object.fromEntries(
      Object.entries(clause).map(([field, { order, missing }]) => [
        field,
        {
          order: order === 'asc' ? ('desc' as const) : ('asc' as const),
          ...(missing === undefined
            ? {}
            : { missing: missing === '_last' ? ('_first' as const) : ('_last' as const) }),
        },
      ]),
    ),
  );
}
