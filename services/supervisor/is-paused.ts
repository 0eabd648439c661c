import { readFileSync } from 'node:fs';

/** Returns whether a signal such as SIGSTOP has stopped a process. False where there is no /proc. */
export function isPaused(pid: number): boolean {
  try {
    // The name of the program comes before, in parentheses.
    return /\) T [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
