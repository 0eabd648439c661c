import { compoundRules } from '../../shared/search/compound-rules.ts';
import type { IndexedWord } from '../../shared/search/match-word.ts';
import type { SearchTerm } from '../../shared/search/search-terms.ts';

const anyOf = (texts: readonly string[]) => `(?:${texts.join('|') || '(?!)'})`;

/** Returns a term with the words of which it is a part, by one regular expression. `words`: those of the searched fields in a locale. */
export function withCompoundsNaively(
  term: SearchTerm,
  words: readonly IndexedWord[],
  locale: string,
  stopWords: ReadonlySet<string>,
): SearchTerm {
  const rules = compoundRules(locale, undefined);
  const { folded, stem } = term;
  if (rules === undefined || folded.length < 4 || stopWords.has(folded)) return term;
  const plain = words.filter(({ kind }) => kind !== 'keyword');
  const alike = plain.filter((word) => word.stem === stem).map((word) => word.folded);
  // A word of the vocabulary with the same stem counts only if it has the letters of the stem. Of stop words only the longer ones count.
  const forms = [folded, ...(stem.length >= folded.length - 1 ? [stem] : [])];
  forms.push(...alike);
  const letters = stem.length >= 3 && folded.startsWith(stem) ? stem : folded;
  const known = plain
    .filter((word) => !stopWords.has(word.folded) || word.folded.length >= 4)
    .flatMap((word) => [word.folded, word.stem ?? word.folded]);
  const one = anyOf(known.filter((text) => text.length >= 3));
  const ofTwo = anyOf(known.filter((text) => text.length >= 4));
  const [links, endings] = [anyOf(rules.links), anyOf(rules.endings)];
  const words12 = `(?:${one}|${ofTwo}${links}${ofTwo})`;
  const form = anyOf(forms.filter((text) => text.length >= 4));
  const behind = `${links}${words12}${endings}`;
  const compound = new RegExp(`^(?:${words12}${links}${form}(?:${endings}|${behind})|${form}${behind})$`);
  const found = plain
    .map((word) => word.folded)
    .filter((text) => text.includes(letters) && compound.test(text));
  const long = found.filter((text) => text.length >= 7 && text.length <= 60);
  return { ...term, compounds: new Map(long.map((text) => [text, { start: 0, end: text.length }])) };
}
