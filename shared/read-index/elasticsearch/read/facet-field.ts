import type { DocumentLayout, Place, PlacedScalar, PlacedStep } from '../layout/document-layout.ts';

/** A column in documents, and the innermost list around it. */
export type FacetField = {
  readonly field: string;
  readonly scalar: PlacedScalar;
  readonly list: string | undefined;
};

/** Returns the field of a facet; undefined: the documents do not contain the path. */
export function facetField(
  { root }: DocumentLayout,
  path: readonly string[],
  name: string,
): FacetField | undefined {
  let place = root;
  let list: string | undefined;
  for (const attribute of path) {
    const next = belowStep(place.steps.get(attribute));
    if (next === undefined) return undefined;
    if (next.list) list = next.objectField;
    place = next.place;
  }
  const scalar = place.scalars.get(name);
  return scalar && { field: `${place.prefix}f.${name}`, scalar, list };
}

type Below = { readonly place: Place; readonly objectField: string; readonly list: boolean };

function belowStep(step: PlacedStep | undefined): Below | undefined {
  if (step?.kind === 'component') return step;
  return step?.kind === 'relation' ? step.embedded : undefined;
}
