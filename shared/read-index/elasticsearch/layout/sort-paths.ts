import { memberOf, type Place, rowsBehind, type SortPath, sortFieldNames } from './document-layout.ts';

/** Returns the paths below a node that pass a list. `passedList`: the path to the node has passed one. */
export function sortPaths(place: Place, path: readonly string[], passedList: boolean): SortPath[] {
  const sortable = [...place.scalars.values()].filter(({ fieldType }) => fieldType !== 'json');
  const fields = sortable.map((scalar) => {
    const { low, high } = sortFieldNames(path, scalar.name);
    return { scalar, low, high, members: { low: memberOf(low), high: memberOf(high) } };
  });
  const here = passedList ? [{ path, fields }] : [];
  const below = [...place.steps.values()].flatMap((step) => {
    const next = rowsBehind(step);
    return next === undefined
      ? []
      : sortPaths(next.place, [...path, step.attribute], passedList || next.list);
  });
  return [...here, ...below];
}
