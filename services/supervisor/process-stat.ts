import { readFileSync } from 'node:fs';

/** State and scheduling class of a process's main thread, as proc_pid_stat(5) and sched.h name them. */
export type ProcessStat = { readonly state: string; readonly schedulingClass: number };

const [STATE, CLASS] = [0, 38];

/** Returns undefined if the process has ended, or there is no /proc. */
export function processStat(pid: number | 'self'): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program comes before, in parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const state = fields[STATE] ?? '';
    // A process that has ended and that no parent has waited for.
    return state === 'Z' ? undefined : { state, schedulingClass: Number(fields[CLASS]) };
  } catch {
    return undefined;
  }
}

/** Returns whether a signal such as SIGSTOP has stopped a process. False where there is no /proc. */
export function isPaused(pid: number): boolean {
  return processStat(pid)?.state === 'T';
}
