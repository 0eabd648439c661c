import { hasBit } from './bits.ts';
import type { LocaleText } from './locale-text.ts';
import { type PackedPostings, placeRows, unpackPostings } from './packed-postings.ts';
import type { Postings } from './postings.ts';
import { createPackedLists, renumberLists } from './row-lists.ts';
import { openFile } from './stored-file.ts';
import {
  type StoredHeader,
  type StoredRows,
  type StoredText,
  takeRowArrays,
  takeTextArrays,
  type WordFiles,
  wordsBasis,
} from './stored-words.ts';
import { digestOfRow, localeText, type TextIndex, watch } from './text-index.ts';
import { dropWord, type KnownWord, kindOfKey, knownStopWords, type Vocabulary } from './vocabulary.ts';
import { fillTable } from './word-table.ts';
import { fillTrie } from './word-trie.ts';

/** Number of items in one step. A search waits for one step at most. */
const ROWS_AT_ONCE = 256;
const WORDS_AT_ONCE = 512;

/**
 * Fills an empty index with the stored words of rows whose texts are unchanged. Other rows are read like changed rows. It works in steps,
 * and rows may change in between. The index uses the arrays of the file.
 */
export function* restoreTexts(index: TextIndex, files: WordFiles): Generator<void, void, void> {
  const bytes = yield* files.read(index.name);
  const file = bytes && (yield* openFile<StoredHeader>(bytes));
  if (file === undefined || file.header.basis !== wordsBasis(index)) return;
  const { header, parts } = file;
  const stored = takeRowArrays(parts);
  const meanwhile = new Set<number>();
  const { size } = index.rowSet;
  index.changedMeanwhile = meanwhile;
  watch(index);
  const rows = yield* keepRows(index, stored, size);
  const kept: Kept = { rows, size, isSame: rows.every((row, place) => row === place) };
  const texts: LocaleText[] = [];
  for (const { locale, lengths } of header.locales) {
    const text = localeText(index, locale);
    const ofLocale = takeTextArrays(parts, index.fields.length);
    yield* addWords(text.vocabulary, ofLocale);
    for (const [field, words] of lengths.entries()) text.lengths[field] = words;
    text.postings = yield* keepPostings(ofLocale.postings, kept);
    texts.push(text);
  }
  if (!kept.isSame) yield* forgetRows(texts, stored, kept);
  show(index, stored, texts, kept);
  for (const row of meanwhile) index.changed.add(row);
  index.changedMeanwhile = undefined;
}

/** Rows whose stored words are still valid. */
type Kept = {
  /** Row by place in the file; -1 if its texts differ. */
  readonly rows: Int32Array;
  /** Number that exceeds all rows. */
  readonly size: number;
  /** True if each place in the file equals its row. */
  readonly isSame: boolean;
};

function* keepRows(
  index: TextIndex,
  { keys, digests }: StoredRows,
  size: number,
): Generator<void, Int32Array, void> {
  const rows = new Int32Array(keys.length).fill(-1);
  // Another key may meanwhile have taken the ordinal of a deleted row.
  const isKept = new Uint8Array(size);
  for (let place = 0; place < keys.length; place++) {
    if (place % ROWS_AT_ONCE === 0) yield;
    const row = index.rowSet.ordinals.get(keys[place] as number) ?? size;
    if (row >= size || isKept[row] === 1 || digestOfRow(index, row) !== digests[place]) continue;
    isKept[row] = 1;
    rows[place] = row;
  }
  return rows;
}

/**
 * Adds the stored words to a vocabulary. The line of most words has no tab: they are their own folded form and stem, so one string is
 * enough.
 */
function* addWords(vocabulary: Vocabulary, stored: StoredText): Generator<void, void, void> {
  const { uses, lines } = stored;
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString();
  const counts = { numbers: 0, otherFolded: 0, otherStems: 0 };
  let start = 0;
  for (let number = 0; number < uses.length; number++) {
    if (number % WORDS_AT_ONCE === 0) yield;
    const stop = text.indexOf('\n', start);
    const end = stop < 0 ? text.length : stop;
    const word = start === end ? undefined : wordOfLine(text.slice(start, end), uses[number] as number);
    start = end + 1;
    vocabulary.words.push(word);
    if (word === undefined) {
      vocabulary.freeNumbers.push(number);
      continue;
    }
    counts.numbers++;
    if (word.folded !== word.key) counts.otherFolded++;
    if (word.stem !== undefined && word.stem !== word.key) counts.otherStems++;
  }
  const [numbers, otherFolded, otherStems] = stored.tables;
  fillTable(vocabulary.numbers, numbers, counts.numbers);
  fillTable(vocabulary.otherFolded, otherFolded, counts.otherFolded);
  fillTable(vocabulary.otherStems, otherStems, counts.otherStems);
  fillTrie(vocabulary.trie, stored.trie);
  vocabulary.version++;
  for (const number of knownStopWords(vocabulary)) (vocabulary.words[number] as KnownWord).isStopWord = true;
}

function wordOfLine(line: string, uses: number): KnownWord {
  const [key = line, folded = key, stem = folded] = line.includes('\t') ? line.split('\t') : [line];
  const kind = kindOfKey(key);
  return { folded, stem: kind === 'keyword' ? undefined : stem, kind, key, isStopWord: false, uses };
}

function* keepPostings(
  stored: readonly PackedPostings[],
  { rows, size, isSame }: Kept,
): Generator<void, readonly Postings[], void> {
  const kept: Postings[] = [];
  for (const packed of stored) {
    kept.push(unpackPostings(isSame ? packed : yield* placeRows(packed, rows, size)));
    yield;
  }
  return kept;
}

/** Removes the words of changed rows from their locales. */
function* forgetRows(
  texts: readonly LocaleText[],
  { locales, counts, tokens }: StoredRows,
  { rows }: Kept,
): Generator<void, void, void> {
  let end = 0;
  for (let place = 0; place < rows.length; place++) {
    if (place % ROWS_AT_ONCE === 0) yield;
    const start = end;
    end += counts[place] as number;
    const text = texts[locales[place] as number];
    if (text !== undefined && (rows[place] as number) < 0) forgetWords(text, tokens.subarray(start, end));
  }
}

/** Removes the words of a row, whose postings no longer have the row. */
function forgetWords({ vocabulary, lengths }: LocaleText, tokens: Int32Array): void {
  let field = -1;
  for (const token of tokens) {
    if (token < 0) {
      field = -1 - token;
      continue;
    }
    if (vocabulary.words[token]?.isStopWord === false) lengths[field] = (lengths[field] as number) - 1;
    dropWord(vocabulary, token);
  }
}

/** Gives the stored words to the rows. Then the rows count as read. */
function show(index: TextIndex, stored: StoredRows, texts: readonly LocaleText[], kept: Kept): void {
  const { rowSet, localeOf, changed } = index;
  const { rows, size } = kept;
  index.tokens = createPackedLists(stored.counts, stored.tokens);
  if (!kept.isSame) renumberLists(index.tokens, rows, size);
  index.digests = new BigUint64Array(size);
  for (let row = 0; row < size; row++) localeOf.push(undefined);
  for (const [place, row] of rows.entries()) {
    if (row < 0) continue;
    index.digests[row] = stored.digests[place] as bigint;
    const text = texts[stored.locales[place] as number];
    localeOf[row] = text;
    if (text !== undefined) text.rows++;
  }
  for (let row = 0; row < size; row++)
    if (index.digests[row] === 0n && hasBit(rowSet.present, row)) changed.add(row);
  index.read = size;
}
