import { SHORTEST_COMPOUND } from '../../../search/compounds.ts';
import type { IndexedWord } from '../../../search/match-word.ts';

/**
 * Words of a vocabulary that are long enough to have parts, by the sequences of three letters in them. It may also have words that were removed
 * since it was made.
 */
export type LongWords = {
  /** Undefined until the first search. */
  made: MadeWords | undefined;
  /** Folded words that were added since then. */
  added: string[];
};

/** Words by buckets of sequences. The words of bucket `b` are `entries` from `starts[b]` to `starts[b + 1]`. */
type MadeWords = {
  readonly words: readonly string[];
  readonly starts: Int32Array;
  readonly entries: Int32Array;
};

/** Letters of a sequence. */
const SEQUENCE = 3;
/** Number of buckets. It is a power of two. */
const BUCKETS = 2 ** 14;
/** Number of added words from which the words are sorted into buckets again. */
const MOST_ADDED = 1_000;

/** Creates long words that have not been made. */
export function createLongWords(): LongWords {
  return { made: undefined, added: [] };
}

/** Records a word that is added to the vocabulary. */
export function addLongWord(long: LongWords, folded: string): void {
  if (long.made !== undefined && folded.length >= SHORTEST_COMPOUND) long.added.push(folded);
}

/** Returns the folded words that contain some letters, three at least. `all`: the words of the vocabulary. */
export function longWordsWith(
  long: LongWords,
  all: readonly (IndexedWord | undefined)[],
  letters: string,
): readonly string[] {
  if (long.made === undefined || long.added.length > MOST_ADDED) {
    long.made = makeWords(all);
    long.added = [];
  }
  const { words, starts, entries } = long.made;
  let [from, to] = [0, words.length];
  for (let at = 0; at + SEQUENCE <= letters.length; at++) {
    const bucket = bucketOf(letters, at);
    const [start, end] = [starts[bucket] as number, starts[bucket + 1] as number];
    if (at === 0 || end - start < to - from) [from, to] = [start, end];
  }
  const found: string[] = [];
  for (let at = from; at < to; at++) {
    const word = words[entries[at] as number] as string;
    if (word.includes(letters)) found.push(word);
  }
  for (const word of long.added) if (word.includes(letters)) found.push(word);
  return found;
}

function makeWords(all: readonly (IndexedWord | undefined)[]): MadeWords {
  const folded = new Set<string>();
  for (const word of all) {
    if (word !== undefined && word.kind !== 'keyword' && word.folded.length >= SHORTEST_COMPOUND)
      folded.add(word.folded);
  }
  const words = [...folded];
  const starts = new Int32Array(BUCKETS + 1);
  eachSequence(words, (bucket) => {
    starts[bucket + 1] = (starts[bucket + 1] as number) + 1;
  });
  for (let bucket = 0; bucket < BUCKETS; bucket++)
    starts[bucket + 1] = (starts[bucket + 1] as number) + (starts[bucket] as number);
  const entries = new Int32Array(starts[BUCKETS] as number);
  const next = starts.slice();
  eachSequence(words, (bucket, word) => {
    entries[next[bucket] as number] = word;
    next[bucket] = (next[bucket] as number) + 1;
  });
  return { words, starts, entries };
}

function eachSequence(words: readonly string[], visit: (bucket: number, word: number) => void): void {
  for (const [number, word] of words.entries())
    for (let at = 0; at + SEQUENCE <= word.length; at++) visit(bucketOf(word, at), number);
}

function bucketOf(text: string, at: number): number {
  const hash = (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 31 + text.charCodeAt(at + 2);
  return hash & (BUCKETS - 1);
}
