import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import { type AppliedEvent, readSamples } from '../../../projections/graph/store/log-checkpoint.ts';
import { PROJECTOR_VERSION } from '../../../projections/graph/store/projector-version.ts';
import { freeBytes } from '../../../shared/free-disk.ts';
import { dueReleases, timeOf } from '../../../shared/releases/release-state.ts';
import { lookAtDatabase } from '../../../shared/sqlite/look-at-database.ts';
import { answerFromOwn } from '../../http/past/own-past.ts';
import type { Past } from '../../http/past/past.ts';
import { createFindPreview } from '../../past/find-preview.ts';
import { keepSnapshots, NEEDED_DISK } from '../../past/keep-snapshots.ts';
import { createLogTimes } from '../../past/log-times.ts';
import { createMoments, type FindPreview } from '../../past/moments.ts';
import { folderOfPasts } from '../../past/past-files.ts';
import { createPastWorlds, type PastMoment, type PastProcess } from '../../past/past-worlds.ts';
import type { Varve } from '../../process/open-varve.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { sizeOfLog } from './log-bytes.ts';
import { removePastFolders } from './past-folder.ts';
import { diskFull, startPast, startSnapshot } from './past-process.ts';

type OpenPastsOptions = {
  readonly settings: ServeSettings;
  readonly logger: Logger;
  readonly varve: Pick<Varve, 'operator' | 'cursorKey' | 'whenErased' | 'releases'>;
  /** No other worker of the data directory is running. */
  readonly isAlone: boolean;
};

type OpenPasts = Past & { close(): Promise<void> };

/** Opens the pasts of a server with a data directory. Undefined if the settings allow none. Removes what killed processes have left. */
export function openPasts(options: OpenPastsOptions): OpenPasts | undefined {
  const { settings, logger, varve } = options;
  const data = resolve(settings.data.data);
  if (options.isAlone) removePastFolders(data);
  const { pastWorlds: atMost, pastRows: maxRows } = settings.past;
  if (atMost === 0) return undefined;
  const { log, graph, generations } = varve.operator;
  const secret = randomBytes(32).toString('base64url');
  const liveGraph = () => {
    const generation = generations.store.live().number;
    return { file: graphFile(data, generation), position: graph.position(), generation };
  };
  const start = ({ position, until }: PastMoment): PastProcess => {
    const live = liveGraph();
    if (freeBytes(data) < graph.size().bytes * NEEDED_DISK) throw diskFull(String(position));
    return startPast(data, {
      kind: 'serve',
      position: String(position),
      until,
      live: until !== undefined || live.position <= position ? live.file : undefined,
      generation: live.generation,
      types: [...graph.registry().contentTypes.keys()],
      maxRows,
      cursorKey: Buffer.from(varve.cursorKey).toString('base64'),
      secret,
    });
  };
  const failed = (position: bigint, error: unknown) =>
    logger.error({ err: error, position: String(position) }, 'a past could not be opened');
  const worlds = createPastWorlds({ start, atMost, failed });
  const snapshots = openSnapshots(options, data, liveGraph);
  varve.whenErased(() => Promise.all([worlds.end(), snapshots.interrupt()]));
  return {
    ...createMoments(
      log,
      createLogTimes(log, () => samplesOf(liveGraph().file)),
      Date.now,
      previewOf(varve),
    ),
    answer: answerFromOwn({ use: worlds.use, secret }),
    async close() {
      await Promise.all([worlds.close(), snapshots.close()]);
    },
  };
}

/** Returns the search of previews; undefined in a process without releases, because the content is that of a Strapi. */
function previewOf({ operator: { log }, releases }: OpenPastsOptions['varve']): FindPreview | undefined {
  const commands = releases?.opened?.commands;
  if (commands === undefined) return undefined;
  const due = (until: number) => dueReleases(commands.list(), until).map(timeOf);
  return createFindPreview({ log, due, now: Date.now });
}

/** Returns some of the events that a graph has applied. */
function samplesOf(file: string): readonly AppliedEvent[] {
  const { connection, close } = lookAtDatabase(file, true);
  try {
    return readSamples(connection);
  } finally {
    close();
  }
}

type LiveGraph = { readonly file: string; readonly position: bigint; readonly generation: number };

/** Makes snapshots of the live graph from now on, each in a process of low priority. */
function openSnapshots(
  { settings, logger, varve }: OpenPastsOptions,
  data: string,
  liveGraph: () => LiveGraph,
): { interrupt(): Promise<void>; close(): Promise<void> } {
  let making: Pick<PastProcess, 'ended' | 'kill'> | undefined;
  let isClosed = false;
  const stop = keepSnapshots({
    live: () => {
      // Until it is rebuilt.
      if (varve.operator.graph.projectorVersion() !== PROJECTOR_VERSION) return undefined;
      const { generation, position } = liveGraph();
      const bytes = () => varve.operator.graph.size().bytes;
      return { position, bytes, where: { folder: folderOfPasts(data), generation } };
    },
    end: () => varve.operator.log.lastPosition(),
    logBytes: sizeOfLog(settings.data),
    async make() {
      if (isClosed) return true;
      const { isKept, ...started } = startSnapshot(data, liveGraph());
      making = started;
      const result = await isKept.finally(() => started.ended);
      making = undefined;
      return result;
    },
    failed: (error) => isClosed || logger.warn({ err: error }, 'a snapshot for pasts could not be made'),
  });
  const interrupt = async () => {
    making?.kill();
    await making?.ended;
  };
  return {
    /** Ends the process that makes a snapshot now. */
    interrupt,
    async close() {
      isClosed = true;
      stop();
      await interrupt();
    },
  };
}
