import { fork } from 'node:child_process';
import { RequestError } from '../../../shared/request-error.ts';
import type { FromPast, PastTask, ServePast } from '../../past/past-task.ts';
import type { PastProcess } from '../../past/past-worlds.ts';
import { AS_OF } from '../../query/root-parameters.ts';
import { isPaused } from '../../supervisor/is-paused.ts';
import { PAST_ARGUMENT } from '../../supervisor/past-child.ts';
import { COMPATIBILITY } from '../../supervisor/protocol.ts';
import { removePastFolder } from './past-folder.ts';

type StartedProcess = Pick<PastProcess, 'ended' | 'kill'> & {
  /** Resolves with the first message. Rejects if the process has ended without one. */
  readonly said: Promise<FromPast>;
};

/** Milliseconds between two looks whether a signal has stopped a process. */
const LOOK_EVERY_MS = 1_000;

/**
 * Starts a process with the command line of this one, for a past or a snapshot. Its output is that of this process. It is killed if a signal has
 * stopped it for a second: requests would wait for it.
 */
function start(data: string, task: PastTask): StartedProcess {
  const args = [PAST_ARGUMENT, COMPATIBILITY, ...process.argv.slice(2)];
  const child = fork(process.argv[1] ?? '', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const said = Promise.withResolvers<FromPast>();
  const ended = Promise.withResolvers<void>();
  // A process may end after it was opened.
  said.promise.catch(() => {});
  let pausedLooks = 0;
  const watch = setInterval(() => {
    pausedLooks = child.pid !== undefined && isPaused(child.pid) ? pausedLooks + 1 : 0;
    if (pausedLooks > 1) child.kill('SIGKILL');
  }, LOOK_EVERY_MS).unref();
  const over = (reason: string) => {
    clearInterval(watch);
    said.reject(new Error(`its process has ended: ${reason}`));
    if (child.pid !== undefined) removePastFolder(data, child.pid);
    ended.resolve();
  };
  child.once('message', (message: FromPast) => {
    said.resolve(message);
    // It has nothing else to do. If it ended by itself, its end could be seen before its message.
    if (message.kind !== 'serving') child.kill('SIGKILL');
  });
  child.once('error', (error) => child.pid === undefined && over(error.message));
  child.once('exit', (code, signal) => over(String(signal ?? code)));
  // If the process has already ended, its exit is handled.
  child.send(task, () => {});
  return { said: said.promise, ended: ended.promise, kill: () => void child.kill('SIGKILL') };
}

/** Starts a process that serves a past. */
export function startPast(data: string, task: ServePast): PastProcess {
  const { said, ended, kill } = start(data, task);
  const opened = said.then((message) => {
    if (message.kind === 'serving') return message.address;
    throw message.kind === 'refused' ? tooLarge(message.rows, task) : diskFull(task.position);
  });
  opened.catch(() => {});
  return { opened, ended, kill };
}

/** A process that makes a snapshot. `isKept`: rejects if it has failed. */
export type SnapshotProcess = Pick<PastProcess, 'ended' | 'kill'> & { readonly isKept: Promise<boolean> };

/** Starts a process that makes a snapshot of the live graph. */
export function startSnapshot(
  data: string,
  live: { readonly file: string; readonly generation: number },
): SnapshotProcess {
  const { said, ended, kill } = start(data, {
    kind: 'snapshot',
    live: live.file,
    generation: live.generation,
  });
  const isKept = said.then(({ kind }) => kind === 'made');
  isKept.catch(() => {});
  return { isKept, ended, kill };
}

/** Returns the answer to a request for a past while the disk has no space for its graph. */
export function diskFull(position: string): RequestError {
  const message = `The content at position ${position} cannot be opened: the disk of the server is full`;
  return new RequestError('past-opening', message, { source: 'query', param: AS_OF, found: position });
}

function tooLarge(rows: number, { position, maxRows }: ServePast): RequestError {
  return new RequestError('not-supported', `The content at position ${position} has too many rows`, {
    source: 'query',
    param: AS_OF,
    found: rows,
    accepted: `at most ${maxRows} rows: raise --past-rows`,
  });
}
