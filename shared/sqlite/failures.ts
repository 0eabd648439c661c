import { freeBytes } from '../free-disk.ts';

/** SQLite's result codes. */
const ERROR = 1;
const BUSY = 5;
const NO_MEMORY = 7;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** Returns whether the file is no longer a database, or SQLite finds it damaged. */
export function isDamaged(error: unknown): boolean {
  return hasCode(error, [CORRUPT, NOT_A_DATABASE]);
}

/** Returns whether another connection has locked the file. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, [BUSY]);
}

/** Returns whether a file that is being opened is damaged. A file with a schema version but without its tables is damaged too. */
export function isDamagedAtOpen(error: unknown): boolean {
  return hasCode(error, [CORRUPT, NOT_A_DATABASE, ERROR]);
}

/** Matches the text of an error, because an error of a transaction on another thread has nothing else. */
const FULL_TEXT = /database or disk is full|ENOSPC/;

/** Returns whether a file cannot grow because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, [FULL]) || causes(error).some(({ message }) => FULL_TEXT.test(message));
}

/**
 * Returns whether files of a folder cannot be opened because the disk is full. SQLite has no separate code for the files next to the
 * database.
 */
export function isDiskFullAtOpen(error: unknown, folder: string): boolean {
  return (
    isDiskFull(error) || (hasCode(error, [IO_ERROR, CANNOT_OPEN]) && freeBytes(folder) < OPENING_TAKES_BYTES)
  );
}

/** Bytes that the indices of three write-ahead logs need, one for each database. */
const OPENING_TAKES_BYTES = 128 * 1024;

/** Codes of the system for what is missing for now: a disk, a handle, memory, a connection. */
const PASSING_CODE =
  /^(EIO|ENOSPC|EDQUOT|EMFILE|ENFILE|ENOMEM|ESTALE|EAGAIN|EBUSY|EPIPE|ETIMEDOUT|ECONN(RESET|REFUSED|ABORTED)|E(HOST|NET)(UNREACH|DOWN))$/;

/** Returns whether a failure may pass by itself: another attempt can succeed although nobody changed anything here. */
export function canRecover(error: unknown): boolean {
  if (hasCode(error, [BUSY, NO_MEMORY, IO_ERROR, FULL, CANNOT_OPEN]) || isDiskFull(error)) return true;
  return causes(error).some((each) => PASSING_CODE.test(String((each as { code?: unknown }).code)));
}

/** Checks the error itself and its causes. The lowest byte of an extended code is the result code. */
function hasCode(error: unknown, codes: readonly number[]): boolean {
  return causes(error).some((each) => {
    const code = (each as { errcode?: unknown }).errcode;
    return typeof code === 'number' && codes.includes(code & 0xff);
  });
}

/** Returns the system's code and SQLite's code of an error, or of the error that caused it. */
export function codesOf(error: unknown): {
  readonly code?: string | undefined;
  readonly errcode?: number | undefined;
} {
  const all = causes(error) as readonly { readonly code?: string; readonly errcode?: number }[];
  return {
    code: all.find(({ code }) => code !== undefined)?.code,
    errcode: all.find(({ errcode }) => errcode !== undefined)?.errcode,
  };
}

/** Returns an error and its causes. */
function causes(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}
