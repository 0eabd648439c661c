/** SQLite's result codes. */
const ERROR = 1;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

/** The file is no database any more, or not as SQLite wrote it. */
export const isDamaged = (error: unknown): boolean => hasCode(error, [CORRUPT, NOT_A_DATABASE]);

/** As isDamaged, of a file that is being opened: one that has a schema's version and lacks its tables is damaged as well. */
export const isDamagedAtOpen = (error: unknown): boolean => hasCode(error, [CORRUPT, NOT_A_DATABASE, ERROR]);

/** The file system has no room for the file to grow. */
export const isOutOfSpace = (error: unknown): boolean => hasCode(error, [FULL]);

/** Of the error itself, or of what caused it. An extended code holds the result code in its lowest byte. */
const hasCode = (error: unknown, codes: readonly number[]): boolean => {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = (each as { errcode?: unknown }).errcode;
    if (typeof code === 'number' && codes.includes(code & 0xff)) return true;
  }
  return false;
};
