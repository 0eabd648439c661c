import type { Scalar } from '../../bool-query.ts';
import type { Neighbours } from '../../document-index.ts';
import { compareSortValues } from '../../sort-value.ts';
import type { DocumentLayout, Place, SortPath } from '../layout/document-layout.ts';
import { jsonOf, type RowNode, storedColumn } from './write-columns.ts';

/** Returns the members of `s`: sort values from the ends of paths that pass lists. */
export function sortsText(
  neighbours: Neighbours,
  { root, sortPaths }: DocumentLayout,
  node: RowNode,
): string {
  let sorts = '';
  for (const { path, fields } of sortPaths) sorts += endsText(fields, pathEnds(neighbours, root, node, path));
  return sorts.slice(1);
}

/** Returns the members for one path, each after a comma. */
function endsText(fields: SortPath['fields'], ends: readonly (RowNode | null)[]): string {
  let sorts = '';
  for (const { scalar, members } of fields) {
    const { least, greatest, isMissing } = extremesOf(scalar.name, ends);
    if (least === undefined || greatest === undefined) continue;
    const lowText = jsonOf(storedColumn(scalar, least));
    sorts += `,${members.low}${lowText}`;
    if (isMissing) continue;
    sorts += `,${members.high}${greatest === least ? lowText : jsonOf(storedColumn(scalar, greatest))}`;
  }
  return sorts;
}

/** Returns the smallest and the largest value of a column at the ends. `isMissing`: an end has no value. */
function extremesOf(name: string, ends: readonly (RowNode | null)[]) {
  let least: Scalar | undefined;
  let greatest: Scalar | undefined;
  let isMissing = false;
  for (const end of ends) {
    const value = end?.fields[name] ?? null;
    if (value === null) isMissing = true;
    else {
      if (least === undefined || compareSortValues(value, least) < 0) least = value;
      if (greatest === undefined || compareSortValues(value, greatest) > 0) greatest = value;
    }
  }
  return { least, greatest, isMissing };
}

const EARLY_END: readonly null[] = [null];

/** Returns the rows at the ends of a path, and null for each branch that ends early. */
export function pathEnds(
  neighbours: Neighbours,
  root: Place,
  start: RowNode,
  path: readonly string[],
): readonly (RowNode | null)[] {
  const endsFrom = (place: Place, node: RowNode, at: number): readonly (RowNode | null)[] => {
    const name = path[at];
    if (name === undefined) return [node];
    const step = place.steps.get(name);
    if (step?.kind === 'component') {
      const items = node.components[name] ?? [];
      return items.length === 0 ? EARLY_END : items.flatMap((each) => endsFrom(step.place, each, at + 1));
    }
    if (step?.kind !== 'relation' || step.embedded === undefined) throw new Error(`${name} is not copied`);
    const { place: next } = step.embedded;
    const found: RowNode[] = [];
    for (const { key } of neighbours.linked(place.rowSet, node.key, name)) {
      const row = neighbours.row(step.target, key);
      if (row !== undefined) found.push({ key, fields: row.fields, components: row.components });
    }
    if (found.length === 0) return EARLY_END;
    return at + 1 === path.length ? found : found.flatMap((each) => endsFrom(next, each, at + 1));
  };
  return endsFrom(root, start, 0);
}
