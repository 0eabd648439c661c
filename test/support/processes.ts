import { readFileSync } from 'node:fs';

/** A process and those it has started and that still run, itself first. Where there is no /proc: the process alone. */
export function processTree(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

/** Returns whether a process runs. A process that has ended does not, even if its parent has not waited for it. */
export function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** The processes that one has started and that still run. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}
