import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Advice for errors of the file system, by code. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES:
    'this user may not do that: run varve as the user of the server, or correct the owner and mode of the files',
  EPERM:
    'this user may not do that: run varve as the user of the server, or correct the owner and mode of the files',
  EROFS: 'the file system is read-only: mount it for writing, or use another location',
  ENOSPC: 'the disk is full: free some space',
  EDQUOT: 'the quota of the disk is used up: free some space',
  EISDIR: 'a folder has the name of a file that Varve needs: name another file, or move the folder',
  ENOTDIR: 'a file has the name of a folder that Varve needs: name another folder, or move the file',
  EEXIST: 'a file has the name of a folder that Varve needs: name another folder, or move the file',
  EMFILE: 'this process has too many open files: raise the limit (ulimit -n)',
};

/** Errors of a write, which do not name the file. */
const WITHOUT_PATH = ['ENOSPC', 'EDQUOT'];

/** Returns what to do about an error of the file system; undefined if it is another error, or the message says enough. */
function fileAdvice(error: unknown): string | undefined {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' && syscall !== 'mkdir') return undefined;
  if (code === undefined || (path === undefined && !WITHOUT_PATH.includes(code))) return undefined;
  return ADVICE[code];
}

/** Returns the error of a file with what to do in its message, for a process that gets only the message. Returns others as they are. */
export function withAdvice(error: unknown): unknown {
  const advice = fileAdvice(error);
  return advice === undefined ? error : new Error(`${(error as Error).message}: ${advice}`, { cause: error });
}

/**
 * Returns what to do if this process cannot read and write a path as a file. Returns undefined if it can, or if the path does not exist.
 */
export function fileProblem(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return ADVICE['EISDIR'];
    accessSync(path, constants.R_OK | constants.W_OK);
    // SQLite makes files next to it.
    accessSync(dirname(path), constants.W_OK);
    return undefined;
  } catch (error) {
    return fileAdvice(error);
  }
}
