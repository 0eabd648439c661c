import { addToList } from '../../../map-values.ts';
import { createRecentValues, type RecentValues } from '../../../recent-values.ts';
import type { Language } from '../../../search/languages.ts';
import { type IndexedWord, indexedWord, type WordKind, type WordMatch } from '../../../search/match-word.ts';
import { addLongWord, createLongWords, type LongWords } from './long-words.ts';
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
  /** Words to which terms were expanded, and words near texts. They are valid for one `version`. */
  readonly expansions: Expansions;
  /** Numbers by key. The two maps below omit most words, whose key is also their folded form and stem. */
  readonly numbers: Map<string, number>;
  /** Numbers by folded form and by stem, of the words whose keys differ from it. */
  readonly otherFolded: Map<string, number[]>;
  readonly otherStems: Map<string, number[]>;
  /** A recently read word by hash. With it, most words of plain texts are found without making a string. */
  readonly recent: Int32Array;
  readonly freeNumbers: number[];
  /** Folded forms, for searches by beginnings and with typos. */
  readonly trie: WordTrie;
  /** Words that are long enough to have parts. */
  readonly longWords: LongWords;
  /** Increases when a word is added or removed. */
  version: number;
};

/** Words of a vocabulary that match a term, with the quality of each match. */
export type Expansion = { readonly words: readonly number[]; readonly matches: readonly WordMatch[] };

/** Caches of expansions, and of walks by their text. */
type Expansions = {
  version: number;
  byTerm: RecentValues<string, Expansion>;
  walks: RecentValues<string, NearWords>;
};

/** Words that a walk with so many typos has visited, each as twice its number, plus one if it begins with the text. */
type NearWords = { readonly typos: number; readonly visits: readonly number[] };

/** Number of recent words. It is a power of two. */
const RECENT_WORDS = 2 ** 15;
/** Maximum words in all cached expansions, and in all cached walks. */
const CACHED_EXPANSIONS = 100_000;
const EXPANSION_OVERHEAD = 20;
/** Prefixes for the keys of words of other kinds, which are not words of a text. */
const PREFIXES: Readonly<Record<WordKind, string>> = { text: '', spelled: '\x01', keyword: '\0' };

/** Returns a word as texts have it, in lower case. */
export function shownWord({ key, kind }: KnownWord): string {
  return key.slice(PREFIXES[kind].length);
}

/** Creates empty caches for a version of a vocabulary. Their limit is the number of words in all of their values. */
export function createExpansions(version: number): Expansions {
  return {
    version,
    byTerm: createRecentValues(CACHED_EXPANSIONS, ({ words }) => words.length + EXPANSION_OVERHEAD),
    walks: createRecentValues(CACHED_EXPANSIONS, ({ visits }) => visits.length + EXPANSION_OVERHEAD),
  };
}

/** Creates a vocabulary without words. */
export function createVocabulary(language: Language): Vocabulary {
  return {
    language,
    words: [],
    expansions: createExpansions(0),
    numbers: new Map(),
    otherFolded: new Map(),
    otherStems: new Map(),
    recent: new Int32Array(RECENT_WORDS),
    freeNumbers: [],
    trie: createWordTrie(),
    longWords: createLongWords(),
    version: 0,
  };
}

/** Returns the number of a word in lower case, and counts one use more. */
export function internWord(vocabulary: Vocabulary, word: string, kind: WordKind): number {
  const key = PREFIXES[kind] + word;
  const number = vocabulary.numbers.get(key) ?? addWord(vocabulary, key, word, kind);
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
  vocabulary.numbers.delete(key);
  if (folded !== key) removeFromList(vocabulary.otherFolded, folded, number);
  if (stem !== undefined && stem !== key) removeFromList(vocabulary.otherStems, stem, number);
  removeFromTrie(vocabulary.trie, folded, number);
}

/** Returns the words with this folded form. */
export function wordsFolded({ words, numbers, otherFolded }: Vocabulary, folded: string): readonly number[] {
  const others = otherFolded.get(folded) ?? [];
  const own = numbers.get(folded);
  return own === undefined || words[own]?.folded !== folded ? others : [own, ...others];
}

/** Returns the words with this stem. */
export function wordsOfStem({ words, numbers, otherStems }: Vocabulary, stem: string): readonly number[] {
  const others = otherStems.get(stem) ?? [];
  const own = numbers.get(stem);
  return own === undefined || words[own]?.stem !== stem ? others : [own, ...others];
}

/** Returns the words that are stop words. */
export function knownStopWords(vocabulary: Vocabulary): readonly number[] {
  return [...vocabulary.language.stopWords].flatMap((word) => wordsFolded(vocabulary, word));
}

function addWord(vocabulary: Vocabulary, key: string, word: string, kind: WordKind): number {
  const number = vocabulary.freeNumbers.pop() ?? vocabulary.words.length;
  const { folded, stem } = indexedWord(vocabulary.language, word, kind);
  const isStopWord = vocabulary.language.stopWords.has(folded);
  vocabulary.words[number] = { folded, stem, kind, key, isStopWord, uses: 0 };
  vocabulary.numbers.set(key, number);
  if (folded !== key) addToList(vocabulary.otherFolded, folded, number);
  if (stem !== undefined && stem !== key) addToList(vocabulary.otherStems, stem, number);
  addToTrie(vocabulary.trie, folded, number);
  if (kind !== 'keyword') addLongWord(vocabulary.longWords, folded);
  vocabulary.version++;
  return number;
}

function removeFromList(lists: Map<string, number[]>, text: string, number: number): void {
  const left = (lists.get(text) ?? []).filter((each) => each !== number);
  if (left.length === 0) lists.delete(text);
  else lists.set(text, left);
}
