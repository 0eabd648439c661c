import { readFileSync } from 'node:fs';

/** Returns whether a signal such as SIGSTOP has stopped a process. False if it has ended, or there is no /proc. */
export function isPaused(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program comes before the state, in parentheses (proc_pid_stat(5)).
    return text[text.lastIndexOf(')') + 2] === 'T';
  } catch {
    return false;
  }
}
