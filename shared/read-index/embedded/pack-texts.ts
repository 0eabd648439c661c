import { createPackedPostings } from './packed-postings.ts';
import { inSlices, type Slices } from './slices.ts';
import type { StoredRows, StoredText } from './stored-words.ts';
import { addToTables, createTables, type KnownWord } from './vocabulary.ts';
import { addToTrie, createWordTrie, trieArrays } from './word-trie.ts';

/** Words by number; undefined = the number is free. */
type Words = readonly (KnownWord | undefined)[];
type PackedText = StoredText & { readonly lengths: readonly number[] };

/** Counts of the words of a locale. */
type WordCounts = {
  /** Number of uses of each word. */
  readonly uses: Int32Array;
  /** Number of words without stop words, by field. */
  readonly lengths: number[];
  /** Number of rows that have the word, by field and word. */
  readonly rows: readonly Int32Array[];
  readonly repeated: Repeated;
};

/** Finds repetitions. Each field of each row has a number. `last` has the number of the last field that had a word, by word. */
type Repeated = { readonly last: Int32Array; field: number };

/** Makes the arrays of each locale from the tokens of rows, in slices. Returns undefined if a pause ended the work. */
export async function packTexts(
  rows: StoredRows,
  { words, fields }: { readonly words: readonly Words[]; readonly fields: number },
  slices: Slices,
): Promise<readonly PackedText[] | undefined> {
  const counted = words.map((ofLocale) => createWordCounts(ofLocale, fields));
  const isCounted = await eachRow(rows, slices, (locale, from, to) => {
    countWords(counted[locale] as WordCounts, words[locale] as Words, rows.tokens.subarray(from, to));
  });
  if (!isCounted) return undefined;
  const places = rows.keys.length;
  const made = counted.map((counts) => counts.rows.map((ofField) => createPackedPostings(ofField, places)));
  const isSet = await eachRow(rows, slices, (locale, from, to, place) => {
    const { repeated } = counted[locale] as WordCounts;
    visitWords(repeated, rows.tokens.subarray(from, to), (field, word, isRepeated) => {
      if (!isRepeated) made[locale]?.[field]?.set(word, place);
    });
  });
  if (!isSet) return undefined;
  const texts: PackedText[] = [];
  for (const [locale, { uses, lengths }] of counted.entries()) {
    const known = await packWords(words[locale] as Words, slices);
    if (known === undefined) return undefined;
    const postings = (made[locale] ?? []).map(({ packed }) => packed);
    texts.push({ ...known, uses, lengths, postings });
  }
  return texts;
}

function createWordCounts({ length }: Words, fields: number): WordCounts {
  return {
    uses: new Int32Array(length),
    lengths: Array.from({ length: fields }, () => 0),
    rows: Array.from({ length: fields }, () => new Int32Array(length)),
    repeated: { last: new Int32Array(length), field: 0 },
  };
}

type VisitRow = (locale: number, from: number, to: number, place: number) => void;

/** Calls `visit` for each row that has words, with the location of its tokens. Returns false if a pause ended the work. */
function eachRow({ locales, counts }: StoredRows, slices: Slices, visit: VisitRow): Promise<boolean> {
  let start = 0;
  const visitRow = (place: number) => {
    const end = start + (counts[place] as number);
    const locale = locales[place] as number;
    if (locale >= 0) visit(locale, start, end, place);
    start = end;
  };
  return inSlices(counts.length, visitRow, slices);
}

function countWords({ uses, lengths, rows, repeated }: WordCounts, words: Words, tokens: Int32Array): void {
  visitWords(repeated, tokens, (field, word, isRepeated) => {
    uses[word] = (uses[word] as number) + 1;
    if (words[word]?.isStopWord === false) lengths[field] = (lengths[field] as number) + 1;
    const ofField = rows[field];
    if (!isRepeated && ofField !== undefined) ofField[word] = (ofField[word] as number) + 1;
  });
}

/** Calls `visit` for each word of a row, with its field, and whether the field already had it. A field may have several values. */
function visitWords(
  repeated: Repeated,
  tokens: Int32Array,
  visit: (field: number, word: number, isRepeated: boolean) => void,
): void {
  const { last } = repeated;
  let field = -1;
  for (const token of tokens) {
    if (token < 0) {
      if (field !== -1 - token) repeated.field++;
      field = -1 - token;
      continue;
    }
    visit(field, token, last[token] === repeated.field);
    last[token] = repeated.field;
  }
}

async function packWords(
  words: Words,
  slices: Slices,
): Promise<Pick<StoredText, 'lines' | 'tables' | 'trie'> | undefined> {
  const trie = createWordTrie();
  const tables = createTables(words);
  const lines: string[] = [];
  const pack = (number: number) => {
    const word = words[number];
    lines.push(lineOf(word));
    if (word === undefined) return;
    addToTables(tables, word, number);
    addToTrie(trie, word.folded, number);
  };
  if (!(await inSlices(words.length, pack, slices))) return undefined;
  const { numbers, otherFolded, otherStems } = tables;
  return {
    lines: Buffer.from(lines.join('\n')),
    tables: [numbers, otherFolded, otherStems],
    trie: trieArrays(trie, words.length),
  };
}

/** Returns the line of a word; empty if the number is free. Omits forms that equal the word. */
function lineOf(word: KnownWord | undefined): string {
  if (word === undefined) return '';
  const { key, folded, stem = '' } = word;
  return folded === key && stem === folded ? key : `${key}\t${folded}\t${stem}`;
}
