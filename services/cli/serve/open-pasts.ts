import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { Past } from '../../http/past/answer-past.ts';
import { findMoment } from '../../past/moments.ts';
import type { FromPast, PastTask } from '../../past/past-task.ts';
import { createPastWorlds, type PastProcess } from '../../past/past-worlds.ts';
import type { Varve } from '../../process/open-varve.ts';
import { PAST_ARGUMENT } from '../../supervisor/past-child.ts';
import { COMPATIBILITY } from '../../supervisor/protocol.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { removePastFolder, removePastFolders } from './past-folder.ts';

type OpenPastsOptions = {
  readonly settings: ServeSettings;
  readonly logger: Logger;
  readonly varve: Pick<Varve, 'operator' | 'cursorKey'>;
};

/** Opens the pasts of a server with a data directory. Undefined if the settings allow none. Removes what killed processes have left. */
export function openPasts({
  settings,
  logger,
  varve,
}: OpenPastsOptions): (Past & { close(): Promise<void> }) | undefined {
  const data = resolve(settings.data.data);
  removePastFolders(data);
  const { pastWorlds: atMost, pastRows: maxRows } = settings.past;
  if (atMost === 0) return undefined;
  const { log, graph, generations } = varve.operator;
  const secret = randomBytes(32).toString('base64url');
  const start = (position: bigint) => {
    const live = graphFile(data, generations.store.live().number);
    return startPast(data, {
      position: String(position),
      bases: graph.position() <= position ? [live] : [],
      types: [...graph.registry().contentTypes.keys()],
      maxRows,
      cursorKey: Buffer.from(varve.cursorKey).toString('base64'),
      secret,
    });
  };
  const failed = (position: bigint, error: unknown) =>
    logger.error({ err: error, position: String(position) }, 'a past could not be opened');
  const worlds = createPastWorlds({ start, atMost, failed });
  return {
    secret,
    find: (given) => findMoment(log, given, Date.now),
    use: worlds.use,
    close: worlds.close,
  };
}

/** Starts a process with the command line of this one. Its output is that of this process. */
function startPast(data: string, task: PastTask): PastProcess {
  const args = [PAST_ARGUMENT, COMPATIBILITY, ...process.argv.slice(2)];
  const child = fork(process.argv[1] ?? '', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const opened = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  // A process may end after it was opened.
  opened.promise.catch(() => {});
  const over = (reason: string) => {
    opened.reject(new Error(`its process has ended: ${reason}`));
    if (child.pid !== undefined) removePastFolder(data, child.pid);
    ended.resolve();
  };
  child.on('message', (message: FromPast) => {
    if (message.kind === 'serving') opened.resolve(message.address);
    else opened.reject(tooLarge(message.rows, task));
  });
  child.once('error', (error) => child.pid === undefined && over(error.message));
  child.once('exit', (code, signal) => over(String(signal ?? code)));
  // If the process has already ended, its exit is handled.
  child.send(task, () => {});
  return { opened: opened.promise, ended: ended.promise, kill: () => void child.kill('SIGKILL') };
}

function tooLarge(rows: number, { position, maxRows }: PastTask): RequestError {
  return new RequestError('not-supported', `The content at position ${position} has too many rows`, {
    source: 'query',
    param: 'asOf',
    found: rows,
    accepted: `at most ${maxRows} rows: raise --past-rows`,
  });
}
