import { inverseFrequency, scoreTerm, weightedFrequency } from '../../../search/bm25.ts';
import { AS_SPLIT, TYPO_LEVELS, type WordMatch } from '../../../search/match-word.ts';
import {
  addHit,
  createRowHits,
  nearnessOf,
  type RowHits,
  rankInTiers,
  UNPLACED,
  VALUE_GAP,
} from '../../../search/rank-hits.ts';
import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import { type Bits, countBits, decodeRows, hasBit, STRETCH } from '../lists/bits.ts';
import { countRows } from '../lists/postings.ts';
import { listCount } from '../lists/row-lists.ts';
import type { TextIndex } from '../words/text-index.ts';
import { knownStopWords, type Vocabulary } from '../words/vocabulary.ts';
import type { LocaleSearch, LocaleTerm } from './locale-search.ts';

/** Rows and their ranks in parallel arrays, in ascending order of the rows. A smaller rank is better. */
export type RankedRows = { readonly rows: Int32Array; readonly ranks: Float64Array };

type TermMatch = {
  readonly term: number;
  readonly match: WordMatch;
  /** One of these words must precede this word. */
  readonly after?: ReadonlySet<number>;
};

/** Returns the rank of a row. */
type RankRow = (row: number) => number;

const hits: RowHits = createRowHits();

/** Worth of a word with one typo, relative to the word itself. */
const TYPO_WORTH = 0.5;

/**
 * Returns the ranks of all rows in `matched`, which `searches` found, each in its locale. If a call ends with its slice, the next call
 * continues.
 */
export function createRanking(
  index: TextIndex,
  searches: readonly LocaleSearch[],
  matched: Bits,
): () => RankedRows {
  const readings = Map.groupBy(searches, ({ text }) => text);
  const pending = [...readings].map(([text, each]) => ({ text, prepare: createTextRank(index, each) }));
  const rankers = new Map<LocaleSearch['text'], RankRow>();
  const count = countBits(matched);
  const rows = new Int32Array(count);
  const ranks = new Float64Array(count);
  let word = 0;
  let done = 0;
  let before = 0;
  return () => {
    for (const { text, prepare } of pending) if (!rankers.has(text)) rankers.set(text, prepare());
    while (word < matched.length) {
      const decoded = decodeRows(matched, word);
      while (done - before < decoded.count) {
        const row = decoded.rows[done - before] as number;
        const rank = rankers.get(index.localeOf[row] as LocaleSearch['text']);
        rows[done] = row;
        // A row without words is found only if the query has no words.
        ranks[done] = rank === undefined ? 0 : rank(row);
        done++;
        rest(listCount(index.tokens, row));
      }
      word += STRETCH;
      before = done;
    }
    return { rows, ranks };
  };
}

/** Creates the rank of a row: the best one of the readings that match it. If a call ends with its slice, the next call continues. */
function createTextRank(index: TextIndex, readings: readonly LocaleSearch[]): () => RankRow {
  const [only] = readings;
  if (only !== undefined && readings.length === 1) return createRowRank(index, only);
  const asked = readings.filter(({ terms }) => terms.length > 0);
  const prepare = createSequence(asked.map((reading) => createRowRank(index, reading)));
  return () => {
    const ranks = prepare();
    return (row) => {
      let best = Number.POSITIVE_INFINITY;
      for (let at = 0; at < asked.length; at++)
        if (isMatch(asked[at] as LocaleSearch, row)) best = Math.min(best, (ranks[at] as RankRow)(row));
      return best;
    };
  };
}

function isMatch({ mode, terms }: LocaleSearch, row: number): boolean {
  return mode === 'any'
    ? terms.some(({ rows }) => hasBit(rows, row))
    : terms.every(({ rows }) => hasBit(rows, row));
}

function createRowRank(index: TextIndex, search: LocaleSearch): () => RankRow {
  const prepareSlots = createSlots(search);
  const countTypos = search.mode === 'any' ? undefined : createTypoCounts(search);
  return () => {
    const scan = createScan(index, search, prepareSlots());
    if (countTypos === undefined) return createScore(index, search, scan);
    const tiers = {
      terms: search.terms.length,
      rankOfField: index.fields.map(({ rank }) => rank),
      nearness: nearnessOf(countTypos(), search.isSearched.filter(Boolean).length),
    };
    return (row) => {
      scan.read(row);
      return rankInTiers(hits, tiers);
    };
  };
}

/** Cost of a word that a term matches, in steps of a slice. */
const WORD_STEPS = 2;

/** Returns for each term the number of its matching words, for each of `TYPO_LEVELS`. */
function createTypoCounts({ text, terms, isSearched }: LocaleSearch): () => readonly (readonly number[])[] {
  const counts = terms.map(() => TYPO_LEVELS.map(() => 0));
  let term = 0;
  let next = 0;
  return () => {
    for (; term < terms.length; term++, next = 0) {
      const { words, matches } = (terms[term] as LocaleTerm).expansion;
      const ofTerm = counts[term] as number[];
      while (next < words.length) {
        const { typos } = matches[next] as WordMatch;
        const word = words[next++] as number;
        const level = TYPO_LEVELS.indexOf(typos);
        if (countRows(text.postings, isSearched, word) > 0) ofTerm[level] = (ofTerm[level] as number) + 1;
        rest(WORD_STEPS);
      }
    }
    return counts;
  };
}

type Scan = {
  /** Number of words by field, without stop words, in the row that was read last. Only for the mode `any`. */
  readonly lengths: Uint32Array;
  /** Writes the positions of the query's words in a row into `hits`. */
  readonly read: (row: number) => void;
};

/** Matches of words. `slots` has, by word, its place in `matchesBySlot`; 0 = it matches no term. */
type Slots = { readonly slots: Uint16Array; readonly matchesBySlot: readonly (readonly TermMatch[])[] };

/** Creates the matches of words. If a call ends with its slice, the next call continues. */
function createSlots({ text, terms }: LocaleSearch): () => Slots {
  const slots = new Uint16Array(text.vocabulary.words.length);
  const matchesBySlot: TermMatch[][] = [[]];
  const add = (word: number, match: TermMatch): void => {
    const slot = slots[word] as number;
    if (slot > 0) matchesBySlot[slot]?.push(match);
    else if (matchesBySlot.length < 65_535) slots[word] = matchesBySlot.push([match]) - 1;
  };
  let term = 0;
  let next = 0;
  return () => {
    for (; term < terms.length; term++, next = 0) {
      const { expansion, pairs } = terms[term] as LocaleTerm;
      const { words, matches } = expansion;
      while (next < words.length) {
        const match = matches[next] as WordMatch;
        add(words[next++] as number, { term, match });
        rest(WORD_STEPS);
      }
      for (const { first, second } of pairs)
        for (const word of second) add(word, { term, match: AS_SPLIT, after: first });
    }
    return { slots, matchesBySlot };
  };
}

function createScan(
  { tokens, fields }: TextIndex,
  { text, mode, isSearched }: LocaleSearch,
  { slots, matchesBySlot }: Slots,
): Scan {
  // Only BM25 needs lengths.
  const isStopWord = mode === 'any' ? stopWordsOf(text.vocabulary) : undefined;
  const lengths = new Uint32Array(fields.length);
  const at = { position: 0, field: 0 };
  const read = (row: number) => {
    const { pool, heads } = tokens;
    hits.count = 0;
    if (isStopWord !== undefined) lengths.fill(0);
    at.position = 0;
    const head = heads[row] as number;
    const end = head + listCount(tokens, row);
    let isWanted = false;
    for (let next = head; next < end; next++) {
      const token = pool[next] as number;
      if (token < 0) {
        at.field = -1 - token;
        at.position += VALUE_GAP;
        isWanted = isSearched[at.field] === true;
        continue;
      }
      at.position++;
      if (isStopWord !== undefined && isStopWord[token] === 0)
        lengths[at.field] = (lengths[at.field] as number) + 1;
      const slot = slots[token] as number;
      if (slot === 0 || !isWanted) continue;
      // The token of a field precedes its first word.
      addMatches(matchesBySlot[slot] as readonly TermMatch[], at, pool[next - 1] as number);
    }
  };
  return { lengths, read };
}

type HitPlace = { readonly position: number; readonly field: number };

/** Records the terms that a word matches, by itself or together with the previous word. */
function addMatches(matches: readonly TermMatch[], at: HitPlace, before: number): void {
  for (const { term, match, after } of matches) {
    if (after === undefined) addHit(hits, term, at, match);
    else if (after.has(before)) addHit(hits, term, { field: at.field, position: UNPLACED }, match);
  }
}

function stopWordsOf(vocabulary: Vocabulary): Uint8Array {
  const isStopWord = new Uint8Array(vocabulary.words.length);
  for (const number of knownStopWords(vocabulary)) isStopWord[number] = 1;
  return isStopWord;
}

/** Returns BM25 over the fields of a row, each with its weight. It is negative, so smaller is better. */
function createScore({ fields }: TextIndex, { text, terms }: LocaleSearch, scan: Scan): RankRow {
  const worth = terms.map(({ term, rows }) => term.count * inverseFrequency(text.rows, countBits(rows)));
  const averages = text.lengths.map((length) => length / Math.max(1, text.rows));
  const frequencies = new Float64Array(terms.length * fields.length);
  return (row) => {
    scan.read(row);
    frequencies.fill(0);
    for (let i = 0; i < hits.count; i++) {
      const at = (hits.term[i] as number) * fields.length + (hits.field[i] as number);
      frequencies[at] = (frequencies[at] as number) + TYPO_WORTH ** (hits.typos[i] as number);
    }
    let score = 0;
    for (let term = 0; term < terms.length; term++) {
      let frequency = 0;
      for (let field = 0; field < fields.length; field++) {
        const here = frequencies[term * fields.length + field] as number;
        if (here === 0) continue;
        const weight = fields[field]?.weight ?? 1;
        const length = scan.lengths[field] as number;
        frequency += weightedFrequency(here, weight, length, averages[field] as number);
      }
      if (frequency > 0) score += scoreTerm(frequency, worth[term] as number);
    }
    return -score;
  };
}
