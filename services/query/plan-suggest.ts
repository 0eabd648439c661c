import { defined } from '../../shared/defined.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { searchSettingsOf } from '../../shared/search/search-settings.ts';
import { resolveCount, resolveText } from './own-parameters.ts';
import { type ListPlan, planList, type QueryRequest } from './plan-query.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from './problems.ts';
import { parseQueryString } from './query-string.ts';

/** Parameters of suggestions. */
export const SUGGEST_PARAMETERS = ['q', 'limit', 'filters', 'locale', 'status', 'facets', 'typoTolerance'];

/** Maximum characters of `q`, and maximum and default of `limit`. */
const [MAX_LENGTH, MAX_LIMIT, DEFAULT_LIMIT] = [512, 20, 5];

/** Suggestions for a text that somebody is typing. */
export type SuggestPlan = {
  readonly typed: string;
  /** Maximum words, and maximum titles. */
  readonly limit: number;
  /** The attribute that is shown as the title of an entry. Absent: the type has none. */
  readonly title?: string;
  /** Search for the typed words. */
  readonly list: ListPlan;
};

/** Plans `GET /api/<plural>/_suggest` as the list with `search`. Throws RequestError (400) naming everything that is wrong. */
export function planSuggest(request: QueryRequest): SuggestPlan {
  const query = parseQueryString(request.queryString);
  const problems: Problems = [];
  refuseOtherNames(query, SUGGEST_PARAMETERS, problems, request.ignoreParameter);
  const typed = resolveText(query['q'], MAX_LENGTH, { param: 'q', problems }) ?? '';
  const limit = resolveCount(query['limit'], MAX_LIMIT, { param: 'limit', problems }) ?? DEFAULT_LIMIT;
  refuseIfAny(problems);
  const title = titleOf(request.type);
  const given = request.queryString.split('&').filter((part) => !OWN.has(nameOf(part)));
  const more = [
    `search=${encodeURIComponent(typed)}`,
    `pagination[pageSize]=${limit}`,
    `fields[0]=${title ?? 'documentId'}`,
    ...(title === undefined ? [] : [`highlight=${title}`]),
  ];
  const list = planList({ ...request, maxLimit: MAX_LIMIT, queryString: [...given, ...more].join('&') });
  return { typed, limit, list, ...defined({ title }) };
}

/** Parameters that a list does not have, or that have another meaning there. */
const OWN = new Set(['q', 'limit', ...['search', 'pagination', 'fields', 'highlight', 'populate', 'sort']]);

/** Returns the parameter of a part of a query string. A name with a wrong encoding is read as it is. */
function nameOf(part: string): string {
  const name = (part.split('=', 1)[0] ?? '').replaceAll('+', ' ');
  return decoded(name).split('[', 1)[0] ?? '';
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Returns the short text with the largest weight; of several, the first. Only a text that is searched can be one. */
function titleOf(type: ContentType): string | undefined {
  const texts = searchSettingsOf(type).fields.filter((field) => field.type === 'string');
  const [first] = texts.toSorted((a, b) => b.weight - a.weight);
  return first?.name;
}
