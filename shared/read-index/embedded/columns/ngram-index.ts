import { appendToList, createRowLists, listCount, listEntry, type RowLists } from '../lists/row-lists.ts';

/**
 * Index of the distinct texts of a column by n-gram. It has a list of term numbers for each hash of an n-gram. A result may have too many
 * terms: those of other n-grams with the same hash, and numbers that had another text before. So callers verify each candidate.
 */
export type NgramIndex = {
  readonly length: number;
  readonly mask: number;
  readonly buckets: RowLists;
  /** Number of terms whose texts have been added, from term 0 on. */
  done: number;
  /** Number of entries of texts that no longer exist. They cost time, but do not make results wrong. */
  stale: number;
};

/** Length of n-grams for longer needles. They are more selective than trigrams, and not more numerous. */
export const LONGEST_NGRAM = 4;

/** Creates an empty index of n-grams of `length` code units, with buckets for about `texts` texts. */
export function createNgramIndex(length: number, texts: number): NgramIndex {
  const buckets = 2 ** Math.ceil(Math.log2(Math.min(65_536, Math.max(1024, texts * 4))));
  return { length, mask: buckets - 1, buckets: createRowLists(false, buckets), done: 0, stale: 0 };
}

/** Adds a term to the bucket of each n-gram of its folded text. A text shorter than an n-gram is in no bucket. */
export function addNgrams(index: NgramIndex, term: number, text: string): void {
  const { buckets } = index;
  for (let at = 0; at + index.length <= text.length; at++) {
    const bucket = bucketOf(index, text, at);
    const count = buckets.counts[bucket] as number;
    // If a text has the n-gram twice, the term is already the last entry of the list.
    if (count > 0 && listEntry(buckets, bucket, count - 1) === term) continue;
    appendToList(buckets, bucket, term);
  }
}

/** Counts a text's entries as stale. Returns true if the index should be rebuilt. */
export function retireNgrams(index: NgramIndex, text: string): boolean {
  index.stale += Math.max(0, text.length - index.length + 1);
  return index.stale > index.buckets.total / 2;
}

/** Returns the bucket of `needle` with the fewest terms. `needle` has at least `index.length` code units. */
export function rarestBucket(index: NgramIndex, needle: string): number {
  let best = bucketOf(index, needle, 0);
  for (let at = 1; at + index.length <= needle.length; at++) {
    const bucket = bucketOf(index, needle, at);
    if (listCount(index.buckets, bucket) < listCount(index.buckets, best)) best = bucket;
  }
  return best;
}

function bucketOf(index: NgramIndex, text: string, at: number): number {
  let hash = 0;
  for (let i = at; i < at + index.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash & index.mask;
}
