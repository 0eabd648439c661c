import type { Dsl } from '../plan/dsl.ts';
import { bucketsIn } from '../wire/search-answer.ts';
import type { WordScope } from './find-words.ts';
import { hasToken, type MatchedWord, tokensOf } from './read-words.ts';

/** Maximum words that one request counts. */
const AT_ONCE = 1_000;

/** Documents in which words are counted. `min_score`: the least score of these documents. */
type Counted = { readonly query: Dsl; readonly min_score?: number };

/** Returns for each group the number of documents that have one of its words in a searched field. */
export async function countWords(
  { session, type, fields }: WordScope,
  locale: string,
  words: readonly (readonly MatchedWord[])[],
  counted: Counted,
): Promise<readonly number[]> {
  const parts = Array.from({ length: Math.ceil(words.length / AT_ONCE) }, (_, part) =>
    words.slice(part * AT_ONCE, (part + 1) * AT_ONCE),
  );
  const counts = await Promise.all(
    parts.map(async (part) => {
      const filters = part.map((group) => hasToken(tokensOf(locale, group, fields)));
      const body = { size: 0, ...counted, aggs: { words: { filters: { filters } } } };
      return bucketsIn<{ readonly doc_count: number }>(await session.search(type, body), 'words');
    }),
  );
  return counts.flat().map(({ doc_count }) => doc_count);
}
