import type { BoolQuery } from '../../bool-query.ts';
import type { World } from '../../read-index.ts';
import { type WatchedChanges, watchChanges } from '../rows/row-changes.ts';
import { columnOf, type RowSetIndex, type Step } from '../rows/row-set.ts';
import { type RowSets, stepFrom, zoneStepFrom } from '../rows/row-sets.ts';

type Watching = { readonly rowSets: RowSets; readonly world: World; readonly into: WatchedChanges[] };

/** Watches all changes that may add a row of `rowSet` to the matches of a query, or remove one. */
export function watchQuery(
  { rowSets, world }: Omit<Watching, 'into'>,
  rowSet: RowSetIndex,
  query: BoolQuery,
): readonly WatchedChanges[] {
  // The id of a row changes when the row is added or removed.
  const into = [watchChanges(rowSets.logs, rowSet.ids.watchers)];
  watchPart({ rowSets, world, into }, rowSet, query, []);
  return into;
}

/** `steps` lead to `rowSet` from the rows that match. */
function watchPart(watching: Watching, rowSet: RowSetIndex, query: BoolQuery, steps: readonly Step[]): void {
  const { rowSets, world, into } = watching;
  switch (query.kind) {
    case 'match_all':
    case 'match_none':
      return;
    case 'some':
      watchSome(watching, stepFrom(rowSets, rowSet, world, query.attribute), query, steps);
      return;
    case 'some_in_zone':
      watchSome(watching, zoneStepFrom(rowSets, rowSet, world, query), query, steps);
      return;
    case 'bool':
      for (const part of [...(query.filter ?? []), ...(query.should ?? []), ...(query.must_not ?? [])])
        watchPart(watching, rowSet, part, steps);
      return;
    case 'area':
      for (const name of [query.columns.lat, query.columns.lng])
        into.push(watchChanges(rowSets.logs, columnOf(rowSet, name).watchers, steps));
      return;
    default:
      into.push(watchChanges(rowSets.logs, columnOf(rowSet, query.field).watchers, steps));
  }
}

function watchSome(
  watching: Watching,
  step: Step,
  { query }: { readonly query: BoolQuery },
  steps: readonly Step[],
): void {
  watching.into.push(watchChanges(watching.rowSets.logs, step.down.watchers, steps));
  watchPart(watching, step.target, query, [...steps, step]);
}
