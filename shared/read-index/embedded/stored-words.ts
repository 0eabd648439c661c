import { WORDS_VERSION } from '../../search/words-version.ts';
import type { TextIndex } from './text-index.ts';

/** Where words are kept from one start to the next. They can be lost at any time: they are read from the rows again. */
export type WordFiles = {
  /** Fewer rows than these are read faster than a file is written. Absent: 1,000. */
  readonly fewRows?: number;
  /** The bytes that were last written by this name, in a buffer of their own. */
  read(name: string): Uint8Array<ArrayBuffer> | undefined;
  has(name: string): boolean;
  write(name: string, bytes: Uint8Array): Promise<void>;
};

/** The beginning of a file of words. */
export type StoredHeader = {
  /** The version, the type and the fields that the words depend on. */
  readonly basis: string;
  readonly rows: number;
  readonly tokens: number;
  readonly locales: readonly { readonly locale: string; readonly bytes: number }[];
};

/**
 * Words of rows, by place in the file. A row is known by its key and the digest of its texts, so words of rows that have changed since
 * are found out, whatever happened to the file or to the rows.
 */
export type StoredRows = {
  readonly keys: Float64Array;
  readonly digests: BigUint64Array;
  /** The place of the row's locale in the header; -1 = it has no words. */
  readonly locales: Int32Array;
  readonly counts: Int32Array;
  /** Tokens of all rows, one row after the other. */
  readonly tokens: Int32Array;
};

const FORMAT = 1;
/** Digest of all that follows, and the length of the header. */
export const STORED_PREFIX_BYTES = 16;
const ALIGNED = 8;

/** Words that were stored on another basis are not those of this process. */
export function wordsBasis({ name, fields, settings }: TextIndex): string {
  const read = fields.map((field) => [field.name, field.kind, field.type]);
  const { icu, unicode } = process.versions;
  return JSON.stringify([FORMAT, WORDS_VERSION, icu, unicode, name, settings.locale, read]);
}

/** Rounds a number of bytes up to a multiple of eight, so that numbers of eight bytes can begin there. */
export function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/** Arrays of stored rows in a buffer, and where they end. */
export function rowsIn(
  bytes: ArrayBuffer,
  start: number,
  { rows, tokens }: Pick<StoredHeader, 'rows' | 'tokens'>,
): { readonly stored: StoredRows; readonly end: number } {
  let at = start;
  const next = (length: number) => {
    const from = at;
    at = alignedBytes(at + length);
    return from;
  };
  const stored = {
    keys: new Float64Array(bytes, next(rows * Float64Array.BYTES_PER_ELEMENT), rows),
    digests: new BigUint64Array(bytes, next(rows * BigUint64Array.BYTES_PER_ELEMENT), rows),
    locales: new Int32Array(bytes, next(rows * Int32Array.BYTES_PER_ELEMENT), rows),
    counts: new Int32Array(bytes, next(rows * Int32Array.BYTES_PER_ELEMENT), rows),
    tokens: new Int32Array(bytes, next(tokens * Int32Array.BYTES_PER_ELEMENT), tokens),
  };
  return { stored, end: at };
}

/** Bytes of the arrays of stored rows. */
export function sizeOfRows(header: Pick<StoredHeader, 'rows' | 'tokens'>): number {
  const { rows, tokens } = header;
  const each = alignedBytes(rows * Int32Array.BYTES_PER_ELEMENT);
  return (
    rows * (Float64Array.BYTES_PER_ELEMENT + BigUint64Array.BYTES_PER_ELEMENT) +
    2 * each +
    alignedBytes(tokens * Int32Array.BYTES_PER_ELEMENT)
  );
}
