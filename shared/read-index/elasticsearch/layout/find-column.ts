import { type DocumentLayout, type Place, type PlacedScalar, rowsBehind } from './document-layout.ts';

/** A column in documents, and the innermost list around it. */
export type PlacedColumn = {
  readonly field: string;
  readonly scalar: PlacedScalar;
  readonly list: string | undefined;
  /** True if the column is in copies in a list, which documents with many links lack. */
  readonly isCopied: boolean;
};

/** Finds the column at the end of a path; undefined if the documents do not contain it. Throws if the schema does not have it. */
export function findColumn(
  { root }: DocumentLayout,
  path: readonly string[],
  name: string,
): PlacedColumn | undefined {
  let place = root;
  let list: string | undefined;
  let isCopied = false;
  for (const attribute of path) {
    const step = place.steps.get(attribute);
    const next = rowsBehind(step);
    if (next === undefined) return undefined;
    if (next.list) list = next.objectField;
    isCopied ||= next.list && step?.kind === 'relation';
    place = next.place;
  }
  const scalar = place.scalars.get(name) ?? missingField(place, name);
  return scalar && { field: `${place.prefix}f.${scalar.field}`, scalar, list, isCopied };
}

/**
 * Returns undefined for a copy, which may lack fields of its row. Throws for every other node, because the schema then does not have the
 * field.
 */
export function missingField(place: Place, name: string): undefined {
  if (place.kind === 'embedded') return undefined;
  throw new Error(`${place.model.uid} has no field ${name} in the read index`);
}
