import { fastDigestBits } from '../../fast-digest.ts';
import { hasBit } from './bits.ts';
import { createPostingsOf } from './postings.ts';
import { createListsOf } from './row-lists.ts';
import {
  aligned,
  basisOf,
  PREFIX_BYTES,
  rowsIn,
  type StoredHeader,
  type StoredRows,
  type WordFiles,
} from './stored-words.ts';
import { digestOfRow, type LocaleText, localeText, type TextIndex, watch } from './text-index.ts';
import { dropWord, kindOfKey, setWord, type Vocabulary } from './vocabulary.ts';

/**
 * Gives an index that has read nothing the words that were stored, of rows whose texts are the same now. All other rows are read as
 * if they had changed.
 */
export function restoreTexts(index: TextIndex, files: WordFiles): void {
  const bytes = files.read(index.name);
  const header = bytes && headerOf(bytes);
  if (bytes === undefined || header === undefined || header.basis !== basisOf(index)) return;
  const start = aligned(PREFIX_BYTES + lengthOfHeader(bytes));
  const { stored, end } = rowsIn(bytes.buffer, start, header);
  let at = end;
  const texts = header.locales.map(({ locale, bytes: length }) => {
    const text = localeText(index, locale);
    addWords(text.vocabulary, Buffer.from(bytes.buffer, at, length).toString());
    at += length;
    return text;
  });
  watch(index);
  const kept = keepRows(index, stored, texts);
  addTokens(index, stored, kept);
  for (const text of texts) addPostings(index, text, kept);
  for (const text of texts) forgetUnused(text.vocabulary);
}

/** undefined: not whole. */
function headerOf(bytes: Uint8Array<ArrayBuffer>): StoredHeader | undefined {
  if (bytes.length < PREFIX_BYTES) return undefined;
  const digest = new DataView(bytes.buffer).getBigUint64(0, true);
  if (fastDigestBits(bytes.subarray(PREFIX_BYTES / 2)) !== digest) return undefined;
  return JSON.parse(Buffer.from(bytes.buffer, PREFIX_BYTES, lengthOfHeader(bytes)).toString());
}

function lengthOfHeader({ buffer }: Uint8Array<ArrayBuffer>): number {
  return new DataView(buffer).getUint32(PREFIX_BYTES / 2, true);
}

/** A row, and where its tokens are in the file. */
type KeptRow = { readonly row: number; readonly from: number; readonly to: number };

function keepRows(
  index: TextIndex,
  { keys, digests, locales, counts }: StoredRows,
  texts: readonly LocaleText[],
): readonly KeptRow[] {
  const { space, localeOf, changed } = index;
  const kept: KeptRow[] = [];
  index.read = space.size;
  index.digests = new BigUint64Array(space.size);
  for (let row = 0; row < space.size; row++) localeOf.push(undefined);
  let to = 0;
  for (const [at, key] of keys.entries()) {
    const from = to;
    to += counts[at] as number;
    const row = space.ordinals.get(key);
    if (row === undefined || digestOfRow(index, row) !== digests[at]) continue;
    index.digests[row] = digests[at] as bigint;
    const text = texts[locales[at] as number];
    localeOf[row] = text;
    if (text !== undefined) text.rows++;
    kept.push({ row, from, to });
  }
  for (let row = 0; row < space.size; row++)
    if (index.digests[row] === 0n && hasBit(space.live, row)) changed.add(row);
  return kept;
}

function addTokens(index: TextIndex, { tokens }: StoredRows, kept: readonly KeptRow[]): void {
  const counts = new Int32Array(index.space.size);
  for (const { row, from, to } of kept) counts[row] = to - from;
  index.tokens = createListsOf(counts);
  const { pool, heads } = index.tokens;
  for (const { row, from, to } of kept) {
    // No row has a list of one: a word comes after its field.
    const start = heads[row] as number;
    for (let at = from; at < to; at++) pool[start + at - from] = tokens[at] as number;
  }
}

function addPostings(index: TextIndex, text: LocaleText, kept: readonly KeptRow[]): void {
  const rows = kept.filter(({ row }) => index.localeOf[row] === text).map(({ row }) => row);
  const counts = countWords(index, text, rows);
  const made = counts.map((ofField) => createPostingsOf(ofField, index.space.size));
  const { pool, heads, counts: lengths } = index.tokens;
  const seen = new Int32Array(text.vocabulary.words.length);
  let stamp = 0;
  for (const row of rows) {
    let field = -1;
    const end = (heads[row] as number) + (lengths[row] as number);
    for (let at = heads[row] as number; at < end; at++) {
      const token = pool[at] as number;
      if (token < 0) {
        if (field !== -1 - token) stamp++;
        field = -1 - token;
      } else if (seen[token] !== stamp) {
        seen[token] = stamp;
        made[field]?.set(token, row);
      }
    }
  }
  text.postings = made.map(({ postings }) => postings);
}

/** Notes how often words are used. Returns, by field, how many rows have each word. The loops are plain ones: most of a restore. */
function countWords(index: TextIndex, text: LocaleText, rows: readonly number[]): Int32Array[] {
  const { words } = text.vocabulary;
  const { pool, heads, counts: lengths } = index.tokens;
  const counts = index.fields.map(() => new Int32Array(words.length));
  const isStop = Uint8Array.from(words, (word) => (word?.isStopWord === true ? 1 : 0));
  const uses = new Int32Array(words.length);
  const seen = new Int32Array(words.length);
  let stamp = 0;
  for (const row of rows) {
    let field = -1;
    let inField: Int32Array | undefined;
    const end = (heads[row] as number) + (lengths[row] as number);
    for (let at = heads[row] as number; at < end; at++) {
      const token = pool[at] as number;
      if (token < 0) {
        if (field !== -1 - token) stamp++;
        field = -1 - token;
        inField = counts[field];
        continue;
      }
      uses[token] = (uses[token] as number) + 1;
      if (isStop[token] === 0) text.lengths[field] = (text.lengths[field] as number) + 1;
      if (seen[token] === stamp || inField === undefined) continue;
      seen[token] = stamp;
      inField[token] = (inField[token] as number) + 1;
    }
  }
  for (const [number, word] of words.entries()) if (word !== undefined) word.uses = uses[number] as number;
  return counts;
}

function addWords(vocabulary: Vocabulary, lines: string): void {
  for (const [number, line] of lines.split('\n').entries()) {
    vocabulary.words.push(undefined);
    if (line === '') {
      vocabulary.freeNumbers.push(number);
      continue;
    }
    const [key = '', folded = key, stem = folded] = line.split('\t');
    const kind = kindOfKey(key);
    const known = { folded, stem: kind === 'keyword' ? undefined : stem, kind, key, uses: 0 };
    setWord(vocabulary, number, known);
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
