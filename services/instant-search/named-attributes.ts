import type { ContentType } from '../../shared/schema/content-type.ts';
import { invalidKey, type Problems } from '../query/problems.ts';
import {
  acceptedNames,
  lookUp,
  type QueryAttribute,
  type QueryModel,
  type QueryScope,
  queryModelOf,
} from '../query/query-model.ts';
import { MOST_NAMES } from '../query/query-string.ts';

/** Content type of a query, the names that it can use, and its problems so far. */
export type InstantContext = {
  readonly type: ContentType;
  readonly model: QueryModel;
  readonly scope: QueryScope;
  readonly problems: Problems;
};

/** Returns the path of an attribute from the name that Algolia's clients use. */
export function attributeNames(name: string): readonly string[] {
  return name === 'objectID' ? ['documentId'] : name.split('.');
}

/** Returns the attribute at the end of a path; undefined if there is none that this caller may see. */
export function attributeAt(
  path: readonly string[],
  model: QueryModel,
  scope: QueryScope,
): QueryAttribute | undefined {
  if (path.length > MOST_NAMES) return undefined;
  let here = model;
  for (const [index, name] of path.entries()) {
    const attribute = lookUp(here, name, scope);
    if (attribute === undefined || attribute === 'hidden') return undefined;
    if (index === path.length - 1) return attribute;
    if (attribute.kind !== 'relation' && attribute.kind !== 'component') return undefined;
    here = queryModelOf(scope.registry, attribute.target);
  }
  return undefined;
}

/** Does the same, and reports unknown, private and unreachable names with the same message. */
export function namedAttribute(
  name: string,
  param: string,
  { model, scope, problems }: InstantContext,
): QueryAttribute | undefined {
  const attribute = attributeAt(attributeNames(name), model, scope);
  if (attribute === undefined) {
    const accepted = acceptedNames(model, scope, ['scalar', 'relation', 'component', 'zone']);
    problems.push(invalidKey(name, null, param, accepted));
  }
  return attribute;
}
