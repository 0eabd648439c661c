import { entryOfSource } from '../../../shared/read-index/entry-of-source.ts';
import { type ReadIndex, WORLDS } from '../../../shared/read-index/read-index.ts';
import type { EntryPlan } from '../../query/plan-query.ts';

const EVERY_LOCALE = 1000;

/**
 * Returns the locales of a document that a DELETE with filters, or with several locales, removes. The request names the locales; a single
 * `*` names all. A locale is removed if the filters match its row in one of the worlds. A filter on the locale never replaces the locale of
 * the request: both apply. The locale is null for types without i18n.
 */
export async function matchingLocales(
  index: ReadIndex,
  plan: EntryPlan,
  documentId: string,
  wanted: readonly string[],
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
  const isEvery = wanted.length === 1 && wanted[0] === '*';
  return [...locales].filter(
    (one) => !plan.type.localized || isEvery || (one !== null && wanted.includes(one)),
  );
}

function localeOf(source: Uint8Array): string | null {
  return entryOfSource(source).locale ?? null;
}
