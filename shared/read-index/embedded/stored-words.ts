import { WORDS_VERSION } from '../../search/words-version.ts';
import type { PackedPostings } from './packed-postings.ts';
import type { FileArray, PartReader } from './stored-file.ts';
import type { TextIndex } from './text-index.ts';
import type { TableArrays } from './word-table.ts';
import type { TrieArrays } from './word-trie.ts';

/** Storage of words between two starts. It may be lost at any time, because words can be read from the rows again. */
export type WordFiles = {
  /** Number of rows below which reading them is faster than writing a file. Absent: 1,000. */
  readonly fewRows?: number;
  /** Reads the last bytes written under this name, in steps, into a separate buffer. */
  read(name: string): Generator<void, Uint8Array<ArrayBuffer> | undefined, void>;
  has(name: string): boolean;
  write(name: string, bytes: Uint8Array): Promise<void>;
};

/** Header of a file of words. The arrays of the rows follow, then the arrays of each locale. */
export type StoredHeader = {
  /** The version, the type and the fields that the words depend on. */
  readonly basis: string;
  readonly locales: readonly StoredLocale[];
};

type StoredLocale = {
  readonly locale: string;
  /** Number of words without stop words in all rows, by field. */
  readonly lengths: readonly number[];
};

/**
 * Words of rows, by place in the file. Each row has its key and a digest of its texts. So changed rows are always detected, even if the
 * file is old or from a copy.
 */
export type StoredRows = {
  readonly keys: Float64Array;
  readonly digests: BigUint64Array;
  /** Place of the row's locale in the header; -1 = it has no words. */
  readonly locales: Int32Array;
  readonly counts: Int32Array;
  /** Tokens of all rows, one row after the other. */
  readonly tokens: Int32Array;
};

/** Words of a locale, and the rows that have them. */
export type StoredText = {
  /** Forms of each word, in a line for each number. */
  readonly lines: Uint8Array;
  /** Number of occurrences in texts, by number. */
  readonly uses: Int32Array;
  /** Tables in the order of a vocabulary: by key, by other folded forms and by other stems. */
  readonly tables: readonly [TableArrays, TableArrays, TableArrays];
  readonly trie: TrieArrays;
  /** Rows of each word, by field. */
  readonly postings: readonly PackedPostings[];
};

const FORMAT = 2;

/** Returns a text of everything on which stored words depend. Words with another basis do not fit this process. */
export function wordsBasis({ name, fields, settings }: TextIndex): string {
  const read = fields.map((field) => [field.name, field.kind, field.type]);
  const { icu, unicode } = process.versions;
  return JSON.stringify([FORMAT, WORDS_VERSION, icu, unicode, name, settings.locale, read]);
}

/** Returns the arrays of the rows and of each locale, in the order of a file. */
export function wordArrays(
  { keys, digests, locales, counts, tokens }: StoredRows,
  texts: readonly StoredText[],
): readonly FileArray[] {
  const rows = [keys, digests, locales, counts, tokens];
  return [...rows, ...texts.flatMap(partsOfText)];
}

/** Takes the arrays of the rows from a file. */
export function takeRowArrays({ doubles, digests, numbers }: PartReader): StoredRows {
  return {
    keys: doubles(),
    digests: digests(),
    locales: numbers(),
    counts: numbers(),
    tokens: numbers(),
  };
}

function partsOfText({ lines, uses, tables, trie, postings }: StoredText): readonly FileArray[] {
  const { letters, firstChild, nextSibling, firstWord, nextWord } = trie;
  const ofFields = postings.flatMap(({ counts, entries, denseWords, denseCounts, bits }) => [
    counts,
    entries,
    denseWords,
    denseCounts,
    bits,
  ]);
  const ofTables = tables.flatMap(({ heads, next }) => [heads, next]);
  return [lines, uses, ...ofTables, letters, firstChild, nextSibling, firstWord, nextWord, ...ofFields];
}

/** Takes the arrays of the next locale from a file. */
export function takeTextArrays({ bytes, shorts, numbers }: PartReader, fields: number): StoredText {
  const table = () => ({ heads: numbers(), next: numbers() });
  return {
    lines: bytes(),
    uses: numbers(),
    tables: [table(), table(), table()],
    trie: {
      letters: shorts(),
      firstChild: numbers(),
      nextSibling: numbers(),
      firstWord: numbers(),
      nextWord: numbers(),
    },
    postings: Array.from({ length: fields }, () => ({
      counts: numbers(),
      entries: numbers(),
      denseWords: numbers(),
      denseCounts: numbers(),
      bits: numbers(),
    })),
  };
}
