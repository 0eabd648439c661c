import { searchOf } from '../../shared/search/search-settings.ts';
import { invalidKey } from '../query/problems.ts';
import type { InstantQuery } from './instant-query.ts';
import { attributeAt, type InstantContext } from './named-attributes.ts';

const PARAM = 'restrictSearchableAttributes';

/** Names of searched texts that this caller may name. */
export function searchableNames({ type, model, scope }: Omit<InstantContext, 'problems'>): readonly string[] {
  return searchOf(scope.registry, type.uid)
    .fields.map(({ name }) => name)
    .filter((name) => attributeAt(name.split('.'), model, scope) !== undefined);
}

/** The fields that a query restricts its search to; undefined: all that `allowed` has. */
export function searchedFields(
  query: InstantQuery,
  context: InstantContext,
  allowed: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  const { searched } = query;
  if (searched === undefined || searched.length === 0) return allowed;
  const accepted = searchableNames(context).filter((name) => allowed?.has(name) ?? true);
  for (const name of searched) {
    if (!accepted.includes(name)) context.problems.push(invalidKey(name, null, PARAM, accepted));
  }
  return new Set(searched);
}
