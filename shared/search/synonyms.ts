import { addToList, valueAt } from '../map-values.ts';
import { createRecentValues } from '../recent-values.ts';
import { remembered } from '../remembered.ts';
import type { SynonymGroup, SynonymGroups } from '../schema/content-type.ts';
import { foldWord } from './fold-word.ts';
import { type Language, languageOf } from './languages.ts';
import { REMEMBERED_LOCALES } from './remembered-locales.ts';
import { splitWords } from './split-words.ts';

/** A word of a synonym, in the forms that are compared with the words of texts. */
export type SynonymWord = { readonly folded: string; readonly stem: string };

/** Words and phrases that count as others in one locale. A word matches by its stem, as in texts. */
export type Synonyms = {
  /** Other words that count as a word, by the word's stem. */
  readonly words: ReadonlyMap<string, readonly SynonymWord[]>;
  /** Phrases, by the stem of their first word. A phrase or one of its synonyms has several words. */
  readonly phrases: ReadonlyMap<string, readonly PhraseSynonyms[]>;
};

export type PhraseSynonyms = {
  /** Stems of the phrase's words. */
  readonly phrase: readonly string[];
  readonly others: readonly Phrase[];
};

type Phrase = readonly SynonymWord[];

const ANY_LOCALE = '*';

const byLocale = remembered((_: readonly SynonymGroups[]) =>
  createRecentValues<string, Synonyms | undefined>(REMEMBERED_LOCALES),
);

/** Returns the synonyms of a locale, including those of every locale. */
export function synonymsIn(synonyms: readonly SynonymGroups[], locale: string): Synonyms | undefined {
  return valueAt(byLocale(synonyms), locale, () => readGroups(synonyms, languageOf(locale)));
}

function readGroups(synonyms: readonly SynonymGroups[], language: Language): Synonyms | undefined {
  const { locale } = language;
  const groups = synonyms.flatMap((each) => [...(each[ANY_LOCALE] ?? []), ...(each[locale] ?? [])]);
  if (groups.length === 0) return undefined;
  const found: Found = { words: new Map(), phrases: new Map() };
  for (const group of groups) {
    const [from, to] = sidesOf(group).map((side) => side.map((text) => readPhrase(text, language)));
    for (const phrase of from ?? []) addSynonyms(phrase, to ?? [], found);
  }
  return found;
}

/** Returns the phrases that are replaced, and those that replace them. */
function sidesOf(group: SynonymGroup): readonly [readonly string[], readonly string[]] {
  return 'from' in group ? [group.from, group.to] : [group, group];
}

function readPhrase(text: string, { locale, stem }: Language): Phrase {
  return splitWords(text, locale).map(({ word }) => ({ folded: foldWord(word), stem: stem(word) }));
}

type Found = {
  readonly words: Map<string, SynonymWord[]>;
  readonly phrases: Map<string, PhraseSynonyms[]>;
};

/** Maps a phrase to its synonyms: all others of them. */
function addSynonyms(phrase: Phrase, all: readonly Phrase[], { words, phrases }: Found): void {
  const [first] = phrase;
  if (first === undefined) return;
  const isSame = (other: Phrase) =>
    other.length === phrase.length && other.every(({ folded }, at) => folded === phrase[at]?.folded);
  const others = all.filter((other) => other.length > 0 && !isSame(other));
  const areWords = (other: Phrase) => other.length === 1 && phrase.length === 1;
  for (const other of others.filter(areWords)) addToList(words, first.stem, other[0] as SynonymWord);
  const longer = others.filter((other) => !areWords(other));
  if (longer.length > 0)
    addToList(phrases, first.stem, { phrase: phrase.map(({ stem }) => stem), others: longer });
}
