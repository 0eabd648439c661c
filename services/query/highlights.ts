import { commaList } from '../../shared/comma-list.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { usesOf } from '../../shared/schema/scalar-uses.ts';
import { invalidKey, type Problems } from './problems.ts';
import { acceptedNames, lookUp, type QueryModel, type QueryScope } from './query-model.ts';
import { isQueryList, isQueryObject, type QueryObject, type QueryValue } from './query-string.ts';

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
type Asked = { readonly name: string; readonly at: string; readonly options: QueryObject };

const MAX_ATTRIBUTES = 20;
const MAX_SNIPPET = 200;
const MAX_TAG = 100;

/** Resolves `highlight=name,description`, a list, or `highlight[name][snippet]=20`; undefined if the request marks nothing. */
export function resolveHighlights(
  query: QueryObject,
  model: QueryModel,
  context: Context,
): HighlightPlan | undefined {
  const before = resolveTag(query, 'highlightPreTag', '<mark>', context.problems);
  const after = resolveTag(query, 'highlightPostTag', '</mark>', context.problems);
  const value = query['highlight'];
  if (value === undefined || value === null || value === '') return undefined;
  const asked = [...new Map(askedAttributes(value, context).map((each) => [each.name, each])).values()];
  if (asked.length > MAX_ATTRIBUTES)
    refuse(context, 'highlight', asked.length, `at most ${MAX_ATTRIBUTES} attributes`);
  const attributes = asked.flatMap((each) => resolveAttribute(each, model, context) ?? []);
  return { attributes, before, after };
}

function askedAttributes(value: QueryValue, context: Context): readonly Asked[] {
  if (typeof value === 'string')
    return commaList(value).map((name) => ({ name, at: 'highlight', options: {} }));
  if (isQueryList(value)) return value.flatMap((each) => askedAttributes(each, context));
  if (!isQueryObject(value)) {
    refuse(context, 'highlight', value, 'names of attributes');
    return [];
  }
  return Object.entries(value).map(([name, options = null]) => {
    const at = `highlight[${name}]`;
    if (isQueryObject(options)) return { name, at, options };
    if (options !== null && options !== '') refuse(context, at, options, 'snippet');
    return { name, at, options: {} };
  });
}

function resolveAttribute(
  { name, at, options }: Asked,
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
  if (snippet === undefined) return { name, type: attribute.type };
  const words = typeof snippet === 'string' && snippet !== '' ? Number(snippet) : Number.NaN;
  if (!Number.isSafeInteger(words) || words < 1 || words > MAX_SNIPPET)
    refuse(context, `${at}[snippet]`, snippet, `a whole number from 1 to ${MAX_SNIPPET}`);
  return { name, type: attribute.type, snippet: words };
}

function isText(
  attribute: ReturnType<QueryModel['attributes']['get']>,
): attribute is Extract<typeof attribute, { kind: 'scalar' }> {
  return (
    attribute?.kind === 'scalar' && usesOf(attribute.type).isHighlighted && attribute.name !== 'documentId'
  );
}

function resolveTag(query: QueryObject, name: string, absent: string, problems: Problems): string {
  const value = query[name];
  if (value === undefined || value === null) return absent;
  if (typeof value === 'string' && value.length <= MAX_TAG) return value;
  const accepted = `text of at most ${MAX_TAG} characters`;
  problems.push({
    phase: 'parameter',
    param: name,
    found: value,
    accepted,
    message: `Invalid parameter at '${name}'. Expected ${accepted}`,
  });
  return absent;
}

function refuse({ problems }: Context, at: string, found: unknown, accepted: string): void {
  problems.push({
    phase: 'parameter',
    param: 'highlight',
    at,
    found,
    accepted,
    message: `Invalid parameter at '${at}'. Expected ${accepted}`,
  });
}
