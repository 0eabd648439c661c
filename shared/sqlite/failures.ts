import { freeBytes } from '../disk-space.ts';

/** SQLite's result codes. */
const ERROR = 1;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** The file is no database any more, or not as SQLite wrote it. */
export const isDamaged = (error: unknown): boolean => hasCode(error, [CORRUPT, NOT_A_DATABASE]);

/** As isDamaged, of a file that is being opened: one that has a schema's version and lacks its tables is damaged as well. */
export const isDamagedAtOpen = (error: unknown): boolean => hasCode(error, [CORRUPT, NOT_A_DATABASE, ERROR]);

/** Of a transaction that failed on another thread only the text is left. */
const FULL_TEXT = /database or disk is full|ENOSPC/;

/** There is no room for a file to grow. */
export const isOutOfSpace = (error: unknown): boolean =>
  hasCode(error, [FULL]) || causes(error).some(({ message }) => FULL_TEXT.test(message));

/** As isOutOfSpace, of files of a folder that are being opened: SQLite has no code for the ones beside the database. */
export const isOutOfSpaceAtOpen = (error: unknown, folder: string): boolean =>
  isOutOfSpace(error) || (hasCode(error, [IO_ERROR, CANNOT_OPEN]) && freeBytes(folder) < OPENING_TAKES_BYTES);

/** The index of a write-ahead log, of three databases. */
const OPENING_TAKES_BYTES = 128 * 1024;

/** Of the error itself, or of what caused it. An extended code holds the result code in its lowest byte. */
const hasCode = (error: unknown, codes: readonly number[]): boolean =>
  causes(error).some((each) => {
    const code = (each as { errcode?: unknown }).errcode;
    return typeof code === 'number' && codes.includes(code & 0xff);
  });

/** An error and what caused it. */
const causes = (error: unknown): readonly Error[] =>
  error instanceof Error ? [error, ...causes(error.cause)] : [];
