import { defined } from '../../shared/defined.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { usesOf } from '../../shared/schema/scalar-uses.ts';
import {
  type NamedAttribute,
  namedAttributes,
  refuseValue,
  resolveCount,
  resolveText,
} from './own-parameters.ts';
import { invalidKey, type Problems } from './problems.ts';
import { acceptedNames, lookUp, type QueryModel, type QueryScope } from './query-model.ts';
import type { QueryObject, QueryValue } from './query-string.ts';

/** An attribute whose matches are to be marked. */
export type HighlightedAttribute = {
  readonly name: string;
  readonly type: ScalarType;
  /** Number of words of a snippet. Absent: the whole text. */
  readonly snippet?: number;
};

export type HighlightPlan = {
  readonly attributes: readonly HighlightedAttribute[];
  readonly before: string;
  readonly after: string;
};

type Context = { readonly scope: QueryScope; readonly problems: Problems };

const MAX_ATTRIBUTES = 20;
const MAX_SNIPPET = 200;
const MAX_TAG = 100;

/** Resolves `highlight=name,description`, a list, or `highlight[name][snippet]=20`; undefined if the request marks nothing. */
export function resolveHighlights(
  query: QueryObject,
  model: QueryModel,
  context: Context,
): HighlightPlan | undefined {
  const { problems } = context;
  const tag = (param: string) => resolveText(query[param], MAX_TAG, { param, problems });
  const before = tag('highlightPreTag') ?? '<mark>';
  const after = tag('highlightPostTag') ?? '</mark>';
  const value = query['highlight'];
  if (value === undefined || value === null || value === '') return undefined;
  const place = { param: 'highlight', at: 'highlight', problems };
  const values = [value].flat(20) as readonly QueryValue[];
  const named = values.flatMap((each) => namedAttributes(each, 'highlight', 'snippet', place));
  const asked = [...new Map(named.map((each) => [each.name, each])).values()];
  if (asked.length > MAX_ATTRIBUTES) refuseValue(place, asked.length, `at most ${MAX_ATTRIBUTES} attributes`);
  const attributes = asked.flatMap((each) => resolveAttribute(each, model, context) ?? []);
  return { attributes, before, after };
}

function resolveAttribute(
  { name, at, options }: NamedAttribute,
  model: QueryModel,
  context: Context,
): HighlightedAttribute | undefined {
  const attribute = lookUp(model, name, context.scope);
  if (attribute === undefined || attribute === 'hidden' || !isText(attribute)) {
    const accepted = acceptedNames(model, context.scope, ['scalar']).filter((each) =>
      isText(model.attributes.get(each)),
    );
    context.problems.push({ ...invalidKey(name, null, 'highlight', accepted), at });
    return undefined;
  }
  const { snippet, ...others } = options;
  for (const other of Object.keys(others))
    context.problems.push({ ...invalidKey(other, name, 'highlight', ['snippet']), at: `${at}[${other}]` });
  const { problems } = context;
  const words = resolveCount(snippet, MAX_SNIPPET, { param: 'highlight', at: `${at}[snippet]`, problems });
  return { name, type: attribute.type, ...defined({ snippet: words }) };
}

function isText(
  attribute: ReturnType<QueryModel['attributes']['get']>,
): attribute is Extract<typeof attribute, { kind: 'scalar' }> {
  return (
    attribute?.kind === 'scalar' && usesOf(attribute.type).isHighlighted && attribute.name !== 'documentId'
  );
}
