import type { Scalar } from '../bool-query.ts';
import { compareCodePoints } from '../column.ts';
import type { Neighbours } from '../document-index.ts';
import type { DocumentLayout, Place, SortPath } from './document-layout.ts';
import { type HeldRow, jsonOf, member, storedColumn } from './write-columns.ts';

/** The members of `s`: what documents are sorted by that is at the ends of paths through lists. */
export function sortsText(
  neighbours: Neighbours,
  { root, sortPaths }: DocumentLayout,
  held: HeldRow,
): string {
  let sorts = '';
  for (const { path, fields } of sortPaths) sorts += endsText(fields, pathEnds(neighbours, root, held, path));
  return sorts.slice(1);
}

/** Each with a comma in front. */
function endsText(fields: SortPath['fields'], ends: readonly (HeldRow | null)[]): string {
  let sorts = '';
  for (const { scalar, low, high } of fields) {
    const values = ends.map((end) => end?.fields[scalar.name] ?? null);
    const known = values.filter((value) => value !== null);
    const [first] = known;
    if (first === undefined) continue;
    let [least, greatest]: [Scalar, Scalar] = [first, first];
    for (const value of known) {
      if (compareScalars(value, least) < 0) least = value;
      if (compareScalars(value, greatest) > 0) greatest = value;
    }
    const lowText = jsonOf(storedColumn(scalar, least));
    sorts += `,${member(low)}${lowText}`;
    if (known.length < values.length) continue;
    sorts += `,${member(high)}${greatest === least ? lowText : jsonOf(storedColumn(scalar, greatest))}`;
  }
  return sorts;
}

function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

const WAY_ENDS: readonly null[] = [null];

/** The rows at the ends of a path; null for each way that ends early. */
function pathEnds(
  neighbours: Neighbours,
  place: Place,
  held: HeldRow,
  path: readonly string[],
): readonly (HeldRow | null)[] {
  const [name, ...rest] = path;
  if (name === undefined) return [held];
  const step = place.steps.get(name);
  if (step?.kind === 'component') {
    const items = held.components[name] ?? [];
    return items.length === 0
      ? WAY_ENDS
      : items.flatMap((each) => pathEnds(neighbours, step.place, each, rest));
  }
  if (step?.kind !== 'relation' || step.embedded === undefined) throw new Error(`${name} is not copied`);
  const { place: next } = step.embedded;
  const found: HeldRow[] = [];
  for (const { key } of neighbours.linked(place.space, held.key, name)) {
    const row = neighbours.row(step.target, key);
    if (row !== undefined) found.push({ key, fields: row.fields, components: row.components });
  }
  return found.length === 0 ? WAY_ENDS : found.flatMap((each) => pathEnds(neighbours, next, each, rest));
}
