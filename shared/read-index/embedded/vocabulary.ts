import { createRecentValues, type RecentValues } from '../../recent-values.ts';
import type { Language } from '../../search/languages.ts';
import { type IndexedWord, indexedWord, type WordKind, type WordMatch } from '../../search/match-word.ts';
import {
  addToTable,
  createWordTable,
  numberOf,
  numbersOf,
  removeFromTable,
  type WordTable,
} from './word-table.ts';
import { addToTrie, createWordTrie, removeFromTrie, type WordTrie } from './word-trie.ts';

/** A word of the vocabulary. */
export type KnownWord = IndexedWord & {
  readonly key: string;
  isStopWord: boolean;
  /** Number of its occurrences in texts. */
  uses: number;
};

/**
 * Distinct words of a type's texts in one locale, by number. Words that differ only in case are one word. Words that differ in accents are
 * several words, because stems depend on accents.
 */
export type Vocabulary = {
  readonly language: Language;
  /** Words by number; undefined = the number is free. */
  readonly words: (KnownWord | undefined)[];
  /** Words to which terms were expanded. They are valid for one `version`. */
  readonly expansions: { version: number; byTerm: RecentValues<string, Expansion> };
  /** Numbers by key. The two tables below omit most words, whose key is also their folded form and stem. */
  readonly numbers: WordTable;
  /** Numbers by folded form and by stem, of the words whose keys differ from it. */
  readonly otherFolded: WordTable;
  readonly otherStems: WordTable;
  /** A recently read word by hash. With it, most words of plain texts are found without making a string. */
  readonly recent: Int32Array;
  readonly freeNumbers: number[];
  /** Folded forms, for searches by beginnings and with typos. */
  readonly trie: WordTrie;
  /** Increases when a word is added or removed. */
  version: number;
};

type WordTables = Pick<Vocabulary, 'numbers' | 'otherFolded' | 'otherStems'>;

/** Words of a vocabulary that match a term, with the quality of each match. */
export type Expansion = { readonly words: readonly number[]; readonly matches: readonly WordMatch[] };

/** Number of recent words. It is a power of two. */
const RECENT_WORDS = 2 ** 15;
/** Maximum words in all cached expansions. */
const CACHED_EXPANSIONS = 100_000;
const EXPANSION_OVERHEAD = 20;
/** Prefixes for the keys of words of other kinds, which are not words of a text. */
const PREFIXES: Readonly<Record<WordKind, string>> = { text: '', spelled: '\x01', keyword: '\0' };

/** Creates an empty cache of expansions. Its limit is the number of words in all of them. */
export function createExpansionCache(): RecentValues<string, Expansion> {
  return createRecentValues(CACHED_EXPANSIONS, ({ words }) => words.length + EXPANSION_OVERHEAD);
}

/** Creates a vocabulary without words. */
export function createVocabulary(language: Language): Vocabulary {
  const words: Vocabulary['words'] = [];
  return {
    language,
    words,
    expansions: { version: 0, byTerm: createExpansionCache() },
    ...createTables(words),
    recent: new Int32Array(RECENT_WORDS),
    freeNumbers: [],
    trie: createWordTrie(),
    version: 0,
  };
}

/** Creates the tables of a vocabulary, without words. */
export function createTables(words: readonly (KnownWord | undefined)[]): WordTables {
  const wordAt = (number: number) => words[number] as KnownWord;
  return {
    numbers: createWordTable((number) => wordAt(number).key),
    otherFolded: createWordTable((number) => wordAt(number).folded),
    otherStems: createWordTable((number) => wordAt(number).stem ?? ''),
  };
}

/** Adds a word to the tables. */
export function addToTables(
  { numbers, otherFolded, otherStems }: WordTables,
  { key, folded, stem }: KnownWord,
  number: number,
): void {
  addToTable(numbers, key, number);
  if (folded !== key) addToTable(otherFolded, folded, number);
  if (stem !== undefined && stem !== key) addToTable(otherStems, stem, number);
}

/** Returns the number of a word in lower case, and counts one use more. */
export function internWord(vocabulary: Vocabulary, word: string, kind: WordKind): number {
  const key = PREFIXES[kind] + word;
  const number = numberOf(vocabulary.numbers, key) ?? addWord(vocabulary, key, word, kind);
  (vocabulary.words[number] as KnownWord).uses++;
  return number;
}

/** Returns the number of a word in a text of lower-case ASCII letters. `hash` is computed from its letters. */
export function internPlainWord(
  vocabulary: Vocabulary,
  text: string,
  { start, end, hash }: { readonly start: number; readonly end: number; readonly hash: number },
): number {
  const { recent, words } = vocabulary;
  const slot = (hash ^ (hash >>> 15)) & (RECENT_WORDS - 1);
  const number = recent[slot] as number;
  const known = words[number];
  // The number may belong to another word by now. Words of other kinds have different keys.
  if (known !== undefined && known.key.length === end - start && text.startsWith(known.key, start)) {
    known.uses++;
    return number;
  }
  const used = internWord(vocabulary, text.slice(start, end), 'text');
  recent[slot] = used;
  return used;
}

/** Counts one use less. Forgets a word without uses. */
export function dropWord(vocabulary: Vocabulary, number: number): void {
  const word = vocabulary.words[number] as KnownWord;
  word.uses--;
  if (word.uses > 0) return;
  vocabulary.words[number] = undefined;
  vocabulary.freeNumbers.push(number);
  vocabulary.version++;
  const { key, folded, stem } = word;
  removeFromTable(vocabulary.numbers, key, number);
  if (folded !== key) removeFromTable(vocabulary.otherFolded, folded, number);
  if (stem !== undefined && stem !== key) removeFromTable(vocabulary.otherStems, stem, number);
  removeFromTrie(vocabulary.trie, word.folded, number);
}

/** Returns the words with this folded form. */
export function wordsFolded({ words, numbers, otherFolded }: Vocabulary, folded: string): readonly number[] {
  const others = numbersOf(otherFolded, folded);
  const own = numberOf(numbers, folded);
  return own === undefined || words[own]?.folded !== folded ? others : [own, ...others];
}

/** Returns the words with this stem. */
export function wordsOfStem({ words, numbers, otherStems }: Vocabulary, stem: string): readonly number[] {
  const others = numbersOf(otherStems, stem);
  const own = numberOf(numbers, stem);
  return own === undefined || words[own]?.stem !== stem ? others : [own, ...others];
}

/** Returns the words that are stop words. */
export function knownStopWords(vocabulary: Vocabulary): readonly number[] {
  return [...vocabulary.language.stopWords].flatMap((word) => wordsFolded(vocabulary, word));
}

/** Returns the kind of the word with this key. */
export function kindOfKey(key: string): WordKind {
  if (key.startsWith(PREFIXES.keyword)) return 'keyword';
  return key.startsWith(PREFIXES.spelled) ? 'spelled' : 'text';
}

function addWord(vocabulary: Vocabulary, key: string, word: string, kind: WordKind): number {
  const number = vocabulary.freeNumbers.pop() ?? vocabulary.words.length;
  const { folded, stem } = indexedWord(vocabulary.language, word, kind);
  const isStopWord = vocabulary.language.stopWords.has(folded);
  const known = { folded, stem, kind, key, isStopWord, uses: 0 };
  vocabulary.words[number] = known;
  addToTables(vocabulary, known, number);
  addToTrie(vocabulary.trie, folded, number);
  vocabulary.version++;
  return number;
}
