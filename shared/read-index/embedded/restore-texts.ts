import { fastDigestBits } from '../../fast-digest.ts';
import { hasBit } from './bits.ts';
import type { LocaleText } from './locale-text.ts';
import { createPostingsOf } from './postings.ts';
import { createListsOf, type RowLists } from './row-lists.ts';
import {
  alignedBytes,
  rowsIn,
  STORED_PREFIX_BYTES,
  type StoredHeader,
  type StoredRows,
  type WordFiles,
  wordsBasis,
} from './stored-words.ts';
import { digestOfRow, localeText, type TextIndex, watch } from './text-index.ts';
import { dropWord, kindOfKey, setWord, type Vocabulary } from './vocabulary.ts';

/** Items of a step: a search waits for a step at most. */
const ROWS_AT_ONCE = 256;
const WORDS_AT_ONCE = 512;

/**
 * Gives an index that has read nothing the words that were stored, of rows whose texts are the same now. All other rows are read as
 * if they had changed. In steps: rows may change between them.
 */
export function* restoreTexts(index: TextIndex, files: WordFiles): Generator<void, void, void> {
  const bytes = files.read(index.name);
  yield;
  const header = bytes && headerOf(bytes);
  if (bytes === undefined || header === undefined || header.basis !== wordsBasis(index)) return;
  const start = alignedBytes(STORED_PREFIX_BYTES + lengthOfHeader(bytes));
  const { stored, end } = rowsIn(bytes.buffer, start, header);
  const meanwhile = new Set<number>();
  const { size } = index.rowSet;
  index.changedMeanwhile = meanwhile;
  watch(index);
  let at = end;
  const texts: LocaleText[] = [];
  for (const { locale, bytes: length } of header.locales) {
    const text = localeText(index, locale);
    texts.push(text);
    yield* addWords(text.vocabulary, Buffer.from(bytes.buffer, at, length).toString());
    at += length;
  }
  const kept = yield* keepRows(index, stored, size);
  const tokens = yield* tokensOf(stored, kept, size);
  const restored = { stored, texts, kept, tokens, size };
  for (const text of texts) yield* addPostings(index, text, restored);
  for (const text of texts) forgetUnused(text.vocabulary);
  show(index, restored);
  for (const row of meanwhile) index.changed.add(row);
  index.changedMeanwhile = undefined;
}

/** undefined: not whole. */
function headerOf(bytes: Uint8Array<ArrayBuffer>): StoredHeader | undefined {
  if (bytes.length < STORED_PREFIX_BYTES) return undefined;
  const digest = new DataView(bytes.buffer).getBigUint64(0, true);
  if (fastDigestBits(bytes.subarray(STORED_PREFIX_BYTES / 2)) !== digest) return undefined;
  return JSON.parse(Buffer.from(bytes.buffer, STORED_PREFIX_BYTES, lengthOfHeader(bytes)).toString());
}

function lengthOfHeader({ buffer }: Uint8Array<ArrayBuffer>): number {
  return new DataView(buffer).getUint32(STORED_PREFIX_BYTES / 2, true);
}

/** Rows whose texts are those of which the words were stored. In arrays: an object for each row costs more than its words. */
type KeptRows = {
  /** By place in the file: the row; -1 = its texts differ. */
  readonly rows: Int32Array;
  /** By place in the file: where its tokens begin. */
  readonly starts: Int32Array;
};

type Restored = {
  readonly stored: StoredRows;
  /** In the order of the header. */
  readonly texts: readonly LocaleText[];
  readonly kept: KeptRows;
  readonly tokens: RowLists;
  readonly size: number;
};

function* addWords(vocabulary: Vocabulary, lines: string): Generator<void, void, void> {
  for (const [number, line] of lines.split('\n').entries()) {
    if (number % WORDS_AT_ONCE === 0) yield;
    vocabulary.words.push(undefined);
    if (line === '') {
      vocabulary.freeNumbers.push(number);
      continue;
    }
    const [key = '', folded = key, stem = folded] = line.split('\t');
    const kind = kindOfKey(key);
    setWord(vocabulary, number, { folded, stem: kind === 'keyword' ? undefined : stem, kind, key, uses: 0 });
  }
}

function* keepRows(
  index: TextIndex,
  { keys, digests, counts }: StoredRows,
  size: number,
): Generator<void, KeptRows, void> {
  const rows = new Int32Array(keys.length).fill(-1);
  const starts = new Int32Array(keys.length);
  // A place that becomes free may be taken by another row meanwhile.
  const isKept = new Uint8Array(size);
  let start = 0;
  for (let at = 0; at < keys.length; at++) {
    if (at % ROWS_AT_ONCE === 0) yield;
    starts[at] = start;
    start += counts[at] as number;
    const row = index.rowSet.ordinals.get(keys[at] as number) ?? size;
    if (row >= size || isKept[row] === 1 || digestOfRow(index, row) !== digests[at]) continue;
    isKept[row] = 1;
    rows[at] = row;
  }
  return { rows, starts };
}

function* tokensOf(
  { tokens, counts }: StoredRows,
  { rows, starts }: KeptRows,
  size: number,
): Generator<void, RowLists, void> {
  const lengths = new Int32Array(size);
  for (const [at, row] of rows.entries()) if (row >= 0) lengths[row] = counts[at] as number;
  const lists = createListsOf(lengths);
  const { pool, heads } = lists;
  for (let at = 0; at < rows.length; at++) {
    if (at % ROWS_AT_ONCE === 0) yield;
    const row = rows[at] as number;
    if (row < 0) continue;
    // No row has a list of one: a word comes after its field.
    const into = heads[row] as number;
    const from = starts[at] as number;
    for (let i = 0; i < (counts[at] as number); i++) pool[into + i] = tokens[from + i] as number;
  }
  return lists;
}

function* addPostings(
  index: TextIndex,
  text: LocaleText,
  { stored, texts, kept, tokens, size }: Restored,
): Generator<void, void, void> {
  const locale = texts.indexOf(text);
  const rows = kept.rows.filter((row, at) => row >= 0 && stored.locales[at] === locale);
  const { words } = text.vocabulary;
  const counted = createWordCounts(text, index.fields.length);
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    countWords(counted, tokens, rows.subarray(from, from + ROWS_AT_ONCE));
    yield;
  }
  for (const [number, word] of words.entries())
    if (word !== undefined) word.uses = counted.uses[number] as number;
  for (const [field, words] of counted.lengths.entries()) text.lengths[field] = words;
  const made = counted.rows.map((ofField) => createPostingsOf(ofField, size));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    setPostings(counted.repeated, tokens, rows.subarray(from, from + ROWS_AT_ONCE), made);
    yield;
  }
  text.postings = made.map(({ postings }) => postings);
}

type WordCounts = {
  /** By word: how often it is used. */
  readonly uses: Int32Array;
  /** By field: the number of words, but stop words. */
  readonly lengths: Float64Array;
  /** By field and word: the number of rows that have it. */
  readonly rows: readonly Int32Array[];
  readonly isStopWord: Uint8Array;
  readonly repeated: Repeated;
};

/** By word: the field of a row that last had it, by the number of that field among all. */
type Repeated = { readonly last: Int32Array; field: number };

function createWordCounts({ vocabulary: { words } }: LocaleText, fields: number): WordCounts {
  return {
    uses: new Int32Array(words.length),
    lengths: new Float64Array(fields),
    rows: Array.from({ length: fields }, () => new Int32Array(words.length)),
    isStopWord: Uint8Array.from(words, (word) => (word?.isStopWord === true ? 1 : 0)),
    repeated: { last: new Int32Array(words.length), field: 0 },
  };
}

function countWords(
  { uses, lengths, rows: rowsOf, isStopWord, repeated }: WordCounts,
  { pool, heads, counts }: RowLists,
  rows: Int32Array,
): void {
  for (const row of rows) {
    let field = -1;
    let ofField: Int32Array | undefined;
    const end = (heads[row] as number) + (counts[row] as number);
    for (let at = heads[row] as number; at < end; at++) {
      const token = pool[at] as number;
      if (token < 0) {
        field = nextField(repeated, field, token);
        ofField = rowsOf[field];
        continue;
      }
      uses[token] = (uses[token] as number) + 1;
      if (isStopWord[token] === 0) lengths[field] = (lengths[field] as number) + 1;
      if (!isRepeatedIn(repeated, token) && ofField !== undefined)
        ofField[token] = (ofField[token] as number) + 1;
    }
  }
}

function setPostings(
  repeated: Repeated,
  { pool, heads, counts }: RowLists,
  rows: Int32Array,
  made: readonly ReturnType<typeof createPostingsOf>[],
): void {
  for (const row of rows) {
    let field = -1;
    const end = (heads[row] as number) + (counts[row] as number);
    for (let at = heads[row] as number; at < end; at++) {
      const token = pool[at] as number;
      if (token < 0) field = nextField(repeated, field, token);
      else if (!isRepeatedIn(repeated, token)) made[field]?.set(token, row);
    }
  }
}

/** A field may have several values, one after the other. */
function nextField(repeated: Repeated, field: number, token: number): number {
  if (field !== -1 - token) repeated.field++;
  return -1 - token;
}

function isRepeatedIn({ last, field }: Repeated, word: number): boolean {
  if (last[word] === field) return true;
  last[word] = field;
  return false;
}

/** Words of rows that have changed. */
function forgetUnused(vocabulary: Vocabulary): void {
  for (const [number, word] of vocabulary.words.entries()) {
    if (word === undefined || word.uses > 0) continue;
    word.uses = 1;
    dropWord(vocabulary, number);
  }
}

/** From now on the rows count as read. */
function show(index: TextIndex, { stored, texts, kept, tokens, size }: Restored): void {
  const { rowSet, localeOf, changed } = index;
  index.tokens = tokens;
  index.digests = new BigUint64Array(size);
  for (let row = 0; row < size; row++) localeOf.push(undefined);
  for (const [at, row] of kept.rows.entries()) {
    if (row < 0) continue;
    index.digests[row] = stored.digests[at] as bigint;
    const text = texts[stored.locales[at] as number];
    localeOf[row] = text;
    if (text !== undefined) text.rows++;
  }
  for (let row = 0; row < size; row++)
    if (index.digests[row] === 0n && hasBit(rowSet.present, row)) changed.add(row);
  index.read = size;
}
