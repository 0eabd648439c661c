import { type ReadIndex, WORLDS } from '../../../shared/read-index/read-index.ts';
import type { EntryPlan } from '../../query/plan-query.ts';

const EVERY_LOCALE = 1000;

/**
 * The locales of a document that a DELETE with filters is about: those the request names (`*` = all) with a row in either world
 * that the filters match. A filter on the locale narrows, it never replaces the locale. null on types without i18n.
 */
export async function matchingLocales(
  index: ReadIndex,
  plan: EntryPlan,
  documentId: string,
  locale: string,
): Promise<readonly (string | null)[]> {
  const query = {
    kind: 'bool',
    filter: [{ kind: 'term', field: 'documentId', value: documentId }, plan.query],
  } as const;
  const locales = new Set<string | null>();
  for (const world of WORLDS) {
    const { hits } = await index.search({
      type: plan.type.uid,
      world,
      query,
      sort: [],
      from: 0,
      size: EVERY_LOCALE,
      withTotal: false,
    });
    for (const source of hits.sources) locales.add(localeOf(source));
  }
  return [...locales].filter((one) => !plan.type.localized || locale === '*' || one === locale);
}

function localeOf(source: Uint8Array): string | null {
  const { locale } = JSON.parse(Buffer.from(source).toString()) as { locale?: string | null };
  return locale ?? null;
}
