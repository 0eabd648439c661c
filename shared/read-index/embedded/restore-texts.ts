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
  const kept = yield* keepRows({ index, size }, stored, texts);
  const tokens = yield* tokensOf(stored, kept, size);
  for (const text of texts) yield* addPostings(index, text, { kept, tokens, size });
  for (const text of texts) forgetUnused(text.vocabulary);
  show(index, { kept, tokens, size });
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

/** A row whose texts are those of which the words were stored, and where its tokens are in the file. */
type KeptRow = {
  readonly row: number;
  readonly digest: bigint;
  readonly text: LocaleText | undefined;
  readonly from: number;
  readonly to: number;
};

type Restored = { readonly kept: readonly KeptRow[]; readonly tokens: RowLists; readonly size: number };

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
  { index, size }: { readonly index: TextIndex; readonly size: number },
  { keys, digests, locales, counts }: StoredRows,
  texts: readonly LocaleText[],
): Generator<void, readonly KeptRow[], void> {
  const kept: KeptRow[] = [];
  // A place that becomes free may be taken by another row meanwhile.
  const isKept = new Uint8Array(size);
  let to = 0;
  for (const [at, key] of keys.entries()) {
    if (at % ROWS_AT_ONCE === 0) yield;
    const from = to;
    to += counts[at] as number;
    const row = index.rowSet.ordinals.get(key) ?? size;
    const digest = digests[at] as bigint;
    if (row >= size || isKept[row] === 1 || digestOfRow(index, row) !== digest) continue;
    isKept[row] = 1;
    kept.push({ row, digest, text: texts[locales[at] as number], from, to });
  }
  return kept;
}

function* tokensOf(
  { tokens }: StoredRows,
  kept: readonly KeptRow[],
  size: number,
): Generator<void, RowLists, void> {
  const counts = new Int32Array(size);
  for (const { row, from, to } of kept) counts[row] = to - from;
  const lists = createListsOf(counts);
  const { pool, heads } = lists;
  for (const [number, { row, from, to }] of kept.entries()) {
    if (number % ROWS_AT_ONCE === 0) yield;
    // No row has a list of one: a word comes after its field.
    const start = heads[row] as number;
    for (let at = from; at < to; at++) pool[start + at - from] = tokens[at] as number;
  }
  return lists;
}

function* addPostings(
  index: TextIndex,
  text: LocaleText,
  { kept, tokens, size }: Restored,
): Generator<void, void, void> {
  const rows = kept.filter((each) => each.text === text).map(({ row }) => row);
  const { words } = text.vocabulary;
  const uses = new Int32Array(words.length);
  const counts = index.fields.map(() => new Int32Array(words.length));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    countWords(text, tokens, rows.slice(from, from + ROWS_AT_ONCE), { uses, counts });
    yield;
  }
  for (const [number, word] of words.entries()) if (word !== undefined) word.uses = uses[number] as number;
  const made = counts.map((ofField) => createPostingsOf(ofField, size));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    visitDistinct(text, tokens, rows.slice(from, from + ROWS_AT_ONCE), (field, number, row) =>
      made[field]?.set(number, row),
    );
    yield;
  }
  text.postings = made.map(({ postings }) => postings);
}

type WordCounts = {
  /** By word: how often it is used. */
  readonly uses: Int32Array;
  /** By field and word: the rows that have it. */
  readonly counts: readonly Int32Array[];
};

function countWords(
  text: LocaleText,
  tokens: RowLists,
  rows: readonly number[],
  { uses, counts }: WordCounts,
): void {
  const { words } = text.vocabulary;
  const { pool, heads, counts: lengths } = tokens;
  for (const row of rows) {
    let field = 0;
    const end = (heads[row] as number) + (lengths[row] as number);
    for (let at = heads[row] as number; at < end; at++) {
      const token = pool[at] as number;
      if (token < 0) field = -1 - token;
      else {
        uses[token] = (uses[token] as number) + 1;
        if (words[token]?.isStopWord === false) text.lengths[field] = (text.lengths[field] as number) + 1;
      }
    }
  }
  visitDistinct(text, tokens, rows, (field, number) => {
    const ofField = counts[field] as Int32Array;
    ofField[number] = (ofField[number] as number) + 1;
  });
}

/** Calls `visit` once for each word that a field of a row has. */
function visitDistinct(
  text: LocaleText,
  { pool, heads, counts }: RowLists,
  rows: readonly number[],
  visit: (field: number, number: number, row: number) => void,
): void {
  const { lastSeen, vocabulary } = text;
  for (let number = lastSeen.length; number < vocabulary.words.length; number++) lastSeen.push(0);
  for (const row of rows) {
    let field = -1;
    const end = (heads[row] as number) + (counts[row] as number);
    for (let at = heads[row] as number; at < end; at++) {
      const token = pool[at] as number;
      if (token < 0) {
        // A field may have several values.
        if (field !== -1 - token) text.stamp++;
        field = -1 - token;
      } else if (lastSeen[token] !== text.stamp) {
        lastSeen[token] = text.stamp;
        visit(field, token, row);
      }
    }
  }
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
function show(index: TextIndex, { kept, tokens, size }: Restored): void {
  const { rowSet, localeOf, changed } = index;
  index.tokens = tokens;
  index.digests = new BigUint64Array(size);
  for (let row = 0; row < size; row++) localeOf.push(undefined);
  for (const { row, digest, text } of kept) {
    index.digests[row] = digest;
    localeOf[row] = text;
    if (text !== undefined) text.rows++;
  }
  for (let row = 0; row < size; row++)
    if (index.digests[row] === 0n && hasBit(rowSet.present, row)) changed.add(row);
  index.read = size;
}
