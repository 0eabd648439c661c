import { readFileSync } from 'node:fs';
import { WORKER_ARGUMENT } from '../../services/supervisor/protocol.ts';

/** A process and those it has started and that still run, itself first. Where there is no /proc: the process alone. */
export function processTree(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

/** Returns whether a process runs. A process that has ended does not, even if its parent has not waited for it. */
export function isRunning(pid: number): boolean {
  return argumentsOf(pid).length > 0;
}

/** The program of a process and its arguments. Empty if the process has ended. */
export function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
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

/** The workers of a supervisor, the one that serves first. A supervisor also starts short commands. */
export function workersOf(supervisor: number): readonly number[] {
  return childrenOf(supervisor).filter((pid) => argumentsOf(pid).includes(WORKER_ARGUMENT));
}
