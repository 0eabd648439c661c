import type { BoolQuery } from '../../bool-query.ts';
import type { World } from '../../read-index.ts';
import { type FollowedChanges, followChanges } from '../rows/row-changes.ts';
import { columnOf, type RowSetIndex, type Step } from '../rows/row-set.ts';
import { type RowSets, stepFrom, zoneStepFrom } from '../rows/row-sets.ts';

type Following = { readonly rowSets: RowSets; readonly world: World; readonly into: FollowedChanges[] };

/** Follows all changes that may add a row of `rowSet` to the matches of a query, or remove one. */
export function followQuery(
  { rowSets, world }: Omit<Following, 'into'>,
  rowSet: RowSetIndex,
  query: BoolQuery,
): readonly FollowedChanges[] {
  // The id of a row changes when the row is added or removed.
  const into = [followChanges(rowSets.logs, rowSet.ids.watchers)];
  follow({ rowSets, world, into }, rowSet, query, []);
  return into;
}

/** `steps` lead to `rowSet` from the rows that match. */
function follow(following: Following, rowSet: RowSetIndex, query: BoolQuery, steps: readonly Step[]): void {
  const { rowSets, world, into } = following;
  switch (query.kind) {
    case 'match_all':
    case 'match_none':
      return;
    case 'some':
      followSome(following, stepFrom(rowSets, rowSet, world, query.attribute), query, steps);
      return;
    case 'some_in_zone':
      followSome(following, zoneStepFrom(rowSets, rowSet, world, query), query, steps);
      return;
    case 'bool':
      for (const part of [...(query.filter ?? []), ...(query.should ?? []), ...(query.must_not ?? [])])
        follow(following, rowSet, part, steps);
      return;
    default:
      into.push(followChanges(rowSets.logs, columnOf(rowSet, query.field).watchers, steps));
  }
}

function followSome(
  following: Following,
  step: Step,
  { query }: { readonly query: BoolQuery },
  steps: readonly Step[],
): void {
  following.into.push(followChanges(following.rowSets.logs, step.down.watchers, steps));
  follow(following, step.target, query, [...steps, step]);
}
