import { createRecentValues, type RecentValues } from '../../recent-values.ts';
import type { Language } from '../../search/languages.ts';
import { type IndexedWord, indexedWord, type WordKind, type WordMatch } from '../../search/match-word.ts';

/** A word of the vocabulary. */
export type KnownWord = IndexedWord & {
  readonly key: string;
  /** How many words of texts it is. */
  uses: number;
  /** In the list of its first letter. */
  place: number;
};

/**
 * The distinct words of a type's texts in one locale, by number. Words that differ in case are one, those that differ in
 * accents are several, as stems depend on them.
 */
export type Vocabulary = {
  readonly language: Language;
  /** By number; undefined = the number is free. */
  readonly words: (KnownWord | undefined)[];
  /** By number: which letters and digits the folded word has, as bits, and how long it is. Scans look at nothing else. */
  letters: Int32Array;
  lengths: Int32Array;
  /** Words that terms were expanded to, valid for one `version`. */
  readonly expansions: { version: number; byTerm: RecentValues<string, Expansion> };
  readonly numbers: Map<string, number>;
  readonly freeNumbers: number[];
  readonly byFolded: Map<string, number[]>;
  readonly byStem: Map<string, number[]>;
  /** By the first code unit of the folded form. */
  readonly byLetter: Map<number, number[]>;
  /** Goes up when a word comes or goes. */
  version: number;
};

/** Words of a vocabulary that match a term, and how. */
export type Expansion = { readonly words: readonly number[]; readonly matches: readonly WordMatch[] };

const FIRST_WORDS = 1_024;
/** Words in the expansions that are kept. */
const EXPANSIONS_HELD = 100_000;
const EXPANSION_OVERHEAD = 20;
/** Before the words of other kinds: they are other words than those of a text. */
const PREFIXES: Readonly<Record<WordKind, string>> = { text: '', spelled: '\x01', keyword: '\0' };

export function createExpansionCache(): RecentValues<string, Expansion> {
  return createRecentValues(EXPANSIONS_HELD, ({ words }) => words.length + EXPANSION_OVERHEAD);
}

export function createVocabulary(language: Language): Vocabulary {
  return {
    language,
    words: [],
    letters: new Int32Array(FIRST_WORDS),
    lengths: new Int32Array(FIRST_WORDS),
    expansions: { version: 0, byTerm: createExpansionCache() },
    numbers: new Map(),
    freeNumbers: [],
    byFolded: new Map(),
    byStem: new Map(),
    byLetter: new Map(),
    version: 0,
  };
}

/** The number of a word in lower case. It is used once more. */
export function useWord(vocabulary: Vocabulary, word: string, kind: WordKind): number {
  const key = PREFIXES[kind] + word;
  const number = vocabulary.numbers.get(key) ?? addWord(vocabulary, key, word, kind);
  (vocabulary.words[number] as KnownWord).uses++;
  return number;
}

/** The word is used once less; one that is not used any more is forgotten. */
export function dropWord(vocabulary: Vocabulary, number: number): void {
  const word = vocabulary.words[number] as KnownWord;
  word.uses--;
  if (word.uses > 0) return;
  vocabulary.words[number] = undefined;
  vocabulary.numbers.delete(word.key);
  vocabulary.freeNumbers.push(number);
  vocabulary.version++;
  removeFrom(vocabulary.byFolded, word.folded, number);
  if (word.stem !== undefined) removeFrom(vocabulary.byStem, word.stem, number);
  const letter = word.folded.charCodeAt(0);
  const alike = vocabulary.byLetter.get(letter) as number[];
  const last = alike.pop() as number;
  if (last === number) return;
  alike[word.place] = last;
  (vocabulary.words[last] as KnownWord).place = word.place;
}

/** Bits for the letters and digits of a folded word: two words as different as these bits are have as many typos. */
export function lettersOf(folded: string): number {
  let letters = 0;
  for (let i = 0; i < folded.length; i++) letters |= 1 << (folded.charCodeAt(i) & 31);
  return letters;
}

function addWord(vocabulary: Vocabulary, key: string, word: string, kind: WordKind): number {
  const number = vocabulary.freeNumbers.pop() ?? vocabulary.words.length;
  const indexed = indexedWord(vocabulary.language, word, kind);
  const { folded, stem } = indexed;
  const letter = folded.charCodeAt(0);
  const alike = vocabulary.byLetter.get(letter);
  const place = alike?.length ?? 0;
  if (alike === undefined) vocabulary.byLetter.set(letter, [number]);
  else alike.push(number);
  vocabulary.words[number] = { ...indexed, key, uses: 0, place };
  if (number >= vocabulary.letters.length) grow(vocabulary);
  vocabulary.letters[number] = lettersOf(folded);
  vocabulary.lengths[number] = folded.length;
  vocabulary.numbers.set(key, number);
  addTo(vocabulary.byFolded, folded, number);
  if (stem !== undefined) addTo(vocabulary.byStem, stem, number);
  vocabulary.version++;
  return number;
}

function grow(vocabulary: Vocabulary): void {
  const size = vocabulary.letters.length * 2;
  const [letters, lengths] = [new Int32Array(size), new Int32Array(size)];
  letters.set(vocabulary.letters);
  lengths.set(vocabulary.lengths);
  vocabulary.letters = letters;
  vocabulary.lengths = lengths;
}

function addTo(lists: Map<string, number[]>, key: string, number: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [number]);
  else list.push(number);
}

function removeFrom(lists: Map<string, number[]>, key: string, number: number): void {
  const list = lists.get(key);
  if (list === undefined) return;
  list.splice(list.indexOf(number), 1);
  if (list.length === 0) lists.delete(key);
}
