import { localeName } from '../../../shared/locale-name.ts';
import { firstRow } from '../../../shared/read-index/first-row.ts';
import type { ReadIndex, World } from '../../../shared/read-index/read-index.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import { derivedDocumentId } from '../../command/document-id.ts';
import type { ContentApiOptions } from './content-api-options.ts';

/** Maximum number of locales, each of which takes one search. No site has as many. */
const MAX_LOCALES = 500;

type LocalesOptions = Pick<ContentApiOptions, 'index' | 'registry' | 'defaultLocale' | 'caller'>;

/** Creates the answer to `GET /api/i18n/locales`. It is kept until the index changes, because each locale of each type takes a search. */
export function createLocalesAnswer(options: LocalesOptions): () => Promise<Uint8Array> {
  let kept: { readonly position: bigint; readonly answer: Promise<Uint8Array> } | undefined;
  return () => {
    const position = options.index.position();
    if (kept?.position === position) return kept.answer;
    const answer = answerLocales(options);
    kept = { position, answer };
    // The next request tries again.
    answer.catch(() => {
      if (kept?.answer === answer) kept = undefined;
    });
    return answer;
  };
}

/**
 * Returns a bare array, as Strapi does: the default locale, and every locale in which the caller can see content. The order of the codes
 * determines the ids.
 */
async function answerLocales({
  index,
  registry,
  defaultLocale,
  caller,
}: LocalesOptions): Promise<Uint8Array> {
  const { mayFind = () => true, mayReadDrafts = true } = caller;
  const types = [...registry.contentTypes.values()].filter(({ localized, uid }) => localized && mayFind(uid));
  const world = mayReadDrafts ? 'draft' : 'published';
  const found = await Promise.all(types.map((type) => localesOf(index, type, world)));
  const others = [...new Set(found.flat())].filter((code) => code !== defaultLocale).sort();
  const locales = [defaultLocale, ...others].map((code, at) => ({
    id: at + 1,
    documentId: derivedDocumentId('locale', code),
    name: localeName(code),
    code,
    isDefault: code === defaultLocale,
  }));
  return Buffer.from(JSON.stringify(locales));
}

/** Returns the locales of a type. Each search skips the rows of the locales that were found before. */
async function localesOf(index: ReadIndex, { uid }: ContentType, world: World): Promise<readonly string[]> {
  const locales: string[] = [];
  while (locales.length < MAX_LOCALES) {
    const last = locales.at(-1);
    const next = await firstRow<{ readonly locale: string }>(index, {
      type: uid,
      world,
      query:
        last === undefined
          ? { kind: 'exists', field: 'locale' }
          : { kind: 'range', field: 'locale', gt: last },
      sort: [{ path: [], field: 'locale', direction: 'asc' }],
    });
    if (next === undefined) break;
    locales.push(next.locale);
  }
  return locales;
}
