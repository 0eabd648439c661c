import { readdirSync, readFileSync } from 'node:fs';
import { WORKER_ARGUMENT } from '../../services/supervisor/protocol.ts';

/** Returns a process and its running descendants, itself first. Without /proc it returns only the process. */
export function processTree(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

/** Returns true if a process runs. An ended process does not, even if its parent has not waited for it. */
export function isRunning(pid: number): boolean {
  return argumentsOf(pid).length > 0;
}

/** Returns the program of a process and its arguments, or an empty list if the process has ended. */
export function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

/** Returns the running children of a process. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** Returns the workers of a supervisor, the serving one first. Its other children are short commands. */
export function workersOf(supervisor: number): readonly number[] {
  return childrenOf(supervisor).filter((pid) => argumentsOf(pid).includes(WORKER_ARGUMENT));
}

/** Returns whether SIGSTOP has stopped all threads of a process, or it has ended. True where there is no /proc. */
export function areThreadsStopped(pid: number): boolean {
  const folder = `/proc/${pid}/task`;
  try {
    return readdirSync(folder).every((thread) =>
      /\) [TtZX] /.test(readFileSync(`${folder}/${thread}/stat`, 'latin1')),
    );
  } catch {
    return true;
  }
}
