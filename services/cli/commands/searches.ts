import { defined } from '../../../shared/defined.ts';
import type { ListedSearch } from '../../searches/list-searches.ts';
import { removeBefore } from '../../searches/open-search-log.ts';
import { MOST_DAYS, SEARCH_LOG_RESOURCES } from '../../searches/search-log-resources.ts';
import { openSearchLogStore, type SearchLogStore, searchLogFile } from '../../searches/search-log-store.ts';
import { textTable } from '../output/text-table.ts';
import { isFound } from '../settings/access-log.ts';
import type { JsonOption } from '../settings/command.ts';
import type { LogOnlySettings } from '../settings/settings.ts';
import { resourceOf, runResource } from './run-resource.ts';

type ListOptions = JsonOption & { readonly days?: string; readonly type?: string; readonly order?: string };

/** `varve searches list`: what people look for on the server of a data directory. It has written its counts up to ten seconds before. */
export async function listSearchesHere(
  settings: LogOnlySettings,
  { json, days, type, order }: ListOptions,
): Promise<void> {
  const searches = await withSearches(settings, async (store) => {
    const kept = { store, write: async () => {}, clear: async () => 0, days: MOST_DAYS };
    const query = { ...defined({ days, type, order }) };
    return runResource(resourceOf(SEARCH_LOG_RESOURCES, 'listSearches'), { searches: kept }, { query });
  });
  const listed = searches as readonly ListedSearch[];
  if (json === true) return console.log(JSON.stringify(listed, null, 2));
  if (listed.length === 0) return console.error('No such searches were counted.');
  const heads = ['TYPE', 'LOCALE', 'QUERY', 'SEARCHES', 'FOUND NOTHING', 'CORRECTED', 'CLICKS', 'POSITION'];
  console.log(textTable([heads, ...listed.map(columnsOf)]));
}

/** `varve searches clear` */
export async function clearSearches(settings: LogOnlySettings): Promise<void> {
  const removed = await withSearches(settings, (store) => removeBefore(store, Number.MAX_SAFE_INTEGER));
  console.log(`${removed} counts of searches are removed`);
}

async function withSearches<Result>(
  { data }: LogOnlySettings,
  use: (store: SearchLogStore) => Promise<Result>,
): Promise<Result> {
  const file = searchLogFile(data);
  if (!isFound(file))
    throw new Error(`there is no ${file}: varve serve counts searches with --search-log-days`);
  const store = openSearchLogStore(data);
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

function columnsOf({ type, locale, query, ...counts }: ListedSearch): readonly string[] {
  const { count, none, corrected, correction, clicks, position } = counts;
  const corrections = corrected === 0 ? '0' : `${corrected} (${correction})`;
  return [
    type,
    locale,
    query,
    String(count),
    String(none),
    corrections,
    String(clicks),
    `${position ?? '-'}`,
  ];
}
