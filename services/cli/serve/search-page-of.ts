import { resolve } from 'node:path';
import { findSearchPage, type SearchPage } from '../../http/pages/search-page.ts';
import type { ServeSettings } from '../settings/settings.ts';

/** The search page of the example's content types, where the example is served. */
export function searchPageOf({
  examples,
  contentTypes,
}: Pick<ServeSettings, 'examples' | 'contentTypes'>): SearchPage | undefined {
  return examples ? findSearchPage(resolve(contentTypes, 'search')) : undefined;
}
