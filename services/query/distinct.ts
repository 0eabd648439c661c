import type { GroupRequest } from '../../shared/read-index/row-groups.ts';
import { mayGroup } from '../../shared/schema/search-distinct.ts';
import { namedAttributes, refuseValue, resolveCount } from './own-parameters.ts';
import { invalidKey, type Problems } from './problems.ts';
import { acceptedNames, lookUp, type QueryModel, type QueryScope } from './query-model.ts';
import type { QueryObject } from './query-string.ts';

type Context = { readonly scope: QueryScope; readonly problems: Problems };

/** Maximum entries of a group. */
const MAX_LIMIT = 10;
const OPTIONS = ['limit'];

/**
 * Resolves `distinct=family`, or `distinct[family][limit]=3`. A private, forbidden or unknown name gets the same refusal. Undefined if the
 * request groups nothing.
 */
export function resolveDistinct(
  query: QueryObject,
  model: QueryModel,
  { scope, problems }: Context,
): GroupRequest | undefined {
  const value = query['distinct'];
  if (value === undefined || value === null || value === '') return undefined;
  const place = { param: 'distinct', at: 'distinct', problems };
  const named = namedAttributes(value, 'distinct', OPTIONS, place);
  const [first] = named;
  if (first === undefined) return undefined;
  if (named.length > 1) return refuseValue(place, `${named.length} attributes`, 'one attribute');
  const { name, at, options } = first;
  const groups = (each: string) => {
    const attribute = lookUp(model, each, scope);
    return attribute !== undefined && attribute !== 'hidden' && attribute.kind === 'scalar'
      ? mayGroup(attribute.type)
      : false;
  };
  if (!groups(name)) {
    const accepted = acceptedNames(model, scope, ['scalar']).filter(groups);
    problems.push({ ...invalidKey(name, null, 'distinct', accepted), at });
    return undefined;
  }
  for (const option of Object.keys(options))
    if (!OPTIONS.includes(option))
      problems.push({ ...invalidKey(option, name, 'distinct', OPTIONS), at: `${at}[${option}]` });
  const limit = resolveCount(options['limit'], MAX_LIMIT, { ...place, at: `${at}[limit]` }) ?? 1;
  return { field: name, limit };
}
