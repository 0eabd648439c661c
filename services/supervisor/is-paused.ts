import { readFileSync } from 'node:fs';

/** Returns whether a signal such as SIGSTOP has stopped a process. False where there is no /proc. */
export function isPaused(pid: number): boolean {
  try {
    // The state comes after the name of the program, which is in parentheses.
    return /\) T [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
