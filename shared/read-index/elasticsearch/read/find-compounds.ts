import { addToList } from '../../../map-values.ts';
import { compoundRules } from '../../../search/compound-rules.ts';
import {
  formsOfPart,
  mayBeNeighbour,
  neighboursIn,
  partIn,
  possibleCompounds,
  rootOfPart,
  type WordPart,
} from '../../../search/compounds.ts';
import { languageOf } from '../../../search/languages.ts';
import type { SearchField, SearchSettings } from '../../../search/search-settings.ts';
import type { SearchTerm } from '../../../search/search-terms.ts';
import type { FoundWord } from '../layout/word-tokens.ts';
import { bucketsIn } from '../wire/search-answer.ts';
import { hasToken, readVocabulary, tokensOf, type WordPlace } from './read-words.ts';
import { compoundPattern, knownPatterns, termPattern } from './word-patterns.ts';

type CompoundScope = { readonly settings: SearchSettings; readonly fields: readonly SearchField[] };

/** A term with the words that have it as a part, and the words of the vocabulary that it may match. */
export type KnownTerm = { readonly term: SearchTerm; readonly vocabulary: readonly FoundWord[] };

/** Reads the words that a term may match. Adds to the term the words that have it as a part. */
export async function readTerm(
  { settings, fields }: CompoundScope,
  place: WordPlace,
  term: SearchTerm,
): Promise<KnownTerm> {
  const { locale } = place;
  const pattern = termPattern(locale, term);
  const rules = compoundRules(locale, settings.compounds);
  const root = languageOf(locale).stopWords.has(term.folded) ? undefined : rootOfPart(term);
  if (rules === undefined || root === undefined)
    return { term, vocabulary: await readVocabulary(place, pattern) };
  const vocabulary = await readVocabulary(place, `${pattern}|${compoundPattern(locale, root)}`);
  const alike = vocabulary.flatMap(({ stem, folded }) => (stem === term.stem ? [folded] : []));
  const forms = formsOfPart(term, alike);
  const long = vocabulary.flatMap(({ kind, folded }) =>
    kind !== 'keyword' && folded.includes(root) ? [folded] : [],
  );
  const words = possibleCompounds(long, forms, rules);
  const asked = new Set(words.flatMap((word) => [...neighboursIn(word, forms, rules)]));
  const known = await knownWords(place, fields, asked);
  const compounds = new Map<string, WordPart>();
  for (const word of words) {
    const part = partIn(word, forms, rules, (text) => known.has(text));
    if (part !== undefined) compounds.set(word, part);
  }
  return { term: compounds.size === 0 ? term : { ...term, compounds }, vocabulary };
}

/**
 * Returns the texts that are words, or stems of words, of the searched fields. Only these fields count, because the result must not reveal a
 * word that only other fields have.
 */
async function knownWords(
  place: WordPlace,
  fields: readonly SearchField[],
  asked: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (asked.size === 0) return asked;
  const { locale } = place;
  const patterns = knownPatterns(locale, [...asked]);
  const found = (await Promise.all(patterns.map((pattern) => readVocabulary(place, pattern)))).flat();
  const { stopWords } = languageOf(locale);
  const words = new Map<string, FoundWord[]>();
  for (const word of found) {
    if (word.kind === 'keyword' || (stopWords.has(word.folded) && !mayBeNeighbour(word.folded))) continue;
    const { folded, stem } = word;
    for (const text of new Set([folded, stem ?? folded])) if (asked.has(text)) addToList(words, text, word);
  }
  return livingTexts(place, fields, words);
}

/** Returns the texts for which some document has one of the words. The index still lists words of deleted documents for a while. */
async function livingTexts(
  { session, type, locale }: WordPlace,
  fields: readonly SearchField[],
  words: ReadonlyMap<string, readonly FoundWord[]>,
): Promise<ReadonlySet<string>> {
  if (words.size === 0) return new Set();
  const tokens = [...words.values()].map((each) => tokensOf(locale, each, fields));
  const answer = await session.search(type, {
    size: 0,
    query: hasToken([...new Set(tokens.flat())]),
    aggs: { texts: { filters: { filters: tokens.map(hasToken) } } },
  });
  const counts = bucketsIn<{ readonly doc_count: number }>(answer, 'texts');
  return new Set([...words.keys()].filter((_, at) => (counts[at]?.doc_count ?? 0) > 0));
}
