import { defined } from '../../shared/defined.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { answerList } from '../query/answer-list.ts';
import { planList, type RequestRules } from '../query/plan-query.ts';
import { parseQueryString } from '../query/query-string.ts';

export type FindOptions = {
  readonly index: ReadIndex;
  readonly registry: SchemaRegistry;
  readonly defaultLocale: string;
  readonly rules: Pick<RequestRules, 'containsIgnoresCase'>;
};

/** Rows, in all locales and both versions, that one request finds at most. */
const MOST_ROWS = 5_000;

/**
 * Returns the documents of which a version in some locale matches `filters` of a query string. Unknown names are refused, even where requests
 * ignore them. Throws RequestError.
 */
export async function findDocuments(
  options: FindOptions,
  type: string,
  where: string,
): Promise<readonly string[]> {
  refuseOthers(where);
  const found = new Set<string>();
  for (const status of ['draft', 'published'])
    for (const documentId of await findIn(options, type, `status=${status}&${where}`)) found.add(documentId);
  return [...found].sort();
}

function refuseOthers(where: string): void {
  const query = parseQueryString(where);
  const { filters, ...others } = query;
  const isGiven = typeof filters === 'object' && filters !== null && Object.keys(filters).length > 0;
  if (isGiven && Object.keys(others).length === 0) return;
  throw new RequestError('invalid-body', 'where must have filters and nothing else', {
    path: 'where',
    found: where,
    accepted: 'filters of a query string, such as filters[email]=ada@example.org',
  });
}

async function findIn(
  { index, registry, defaultLocale, rules: { containsIgnoresCase } }: FindOptions,
  uid: string,
  query: string,
): Promise<readonly string[]> {
  const type = contentTypeOf(registry, uid);
  const queryString = `fields=documentId&${type.localized ? 'locale=*&' : ''}${query}`;
  const plan = planList({ registry, type, queryString, defaultLocale, ...defined({ containsIgnoresCase }) });
  const search = { ...plan.search, sort: [], from: 0, size: MOST_ROWS + 1, withTotal: false };
  const body = await answerList(index, { ...plan, search });
  const { data } = JSON.parse(body.toString()) as { readonly data: readonly { documentId: string }[] };
  if (data.length > MOST_ROWS)
    throw new RequestError('not-supported', `where matches more than ${MOST_ROWS} entries: ask for fewer`, {
      path: 'where',
      accepted: MOST_ROWS,
    });
  return data.map(({ documentId }) => documentId);
}
