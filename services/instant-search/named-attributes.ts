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

/** Model and scope for looking up attribute names, with the place to report unknown ones. */
export type NameContext = {
  readonly model: QueryModel;
  readonly scope: QueryScope;
  readonly problems: Problems;
};

/** Names of attributes as Algolia's clients know them. */
export function attributeNames(name: string): readonly string[] {
  return name === 'objectID' ? ['documentId'] : name.split('.');
}

/** The attribute at the end of a path. undefined: this caller has none there, for whatever reason. */
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

/** The same; reports an unknown name, a private one and one behind a type that the caller may not find alike. */
export function namedAttribute(
  name: string,
  param: string,
  { model, scope, problems }: NameContext,
): QueryAttribute | undefined {
  const attribute = attributeAt(attributeNames(name), model, scope);
  if (attribute === undefined) {
    const accepted = acceptedNames(model, scope, ['scalar', 'relation', 'component', 'zone']);
    problems.push(invalidKey(name, null, param, accepted));
  }
  return attribute;
}
