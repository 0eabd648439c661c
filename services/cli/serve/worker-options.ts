import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { FormatsMade } from '../../assets/pictures/picture-settings.ts';
import { requireSharp } from '../../assets/pictures/require-sharp.ts';
import { createPresence } from '../../fleet/presence.ts';
import type { Operating } from '../../operating/operating.ts';
import type { VarveOptions } from '../../process/process-options.ts';
import type { readApiConfig } from '../../project/read-api-config.ts';
import { createProcessList } from '../../state/process-list.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import { logFleet } from '../output/log-fleet.ts';
import { logCacheToken, logReplaced, logSearches, logUnwatched } from '../output/log-reports.ts';
import { lifetimeOf, taggingSettings } from '../settings/delivery-settings.ts';
import type { readContentTypes } from '../settings/read-content-types.ts';
import { requestRules, requiresRelations } from '../settings/request-rules.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { shareOf } from '../settings/worker-settings.ts';

/** Parts that a worker reads and opens before its data. */
export type WorkerBasis = {
  readonly logger: Logger;
  readonly contentTypes: Awaited<ReturnType<typeof readContentTypes>>;
  readonly project: ReturnType<typeof readApiConfig>;
  readonly readSide: VarveOptions['readSide'];
  readonly login: VarveOptions['access']['login'];
  readonly operating: Operating;
};

/** Returns the options of `openVarve` that are the same for every worker of `varve serve`, the leader and the reading workers. */
export async function workerOptions(settings: ServeSettings, supervisor: Supervisor, basis: WorkerBasis) {
  const { logger, project, readSide } = basis;
  const serving = servingOptions(settings, basis, supervisor.pid);
  return {
    ...serving,
    caches: {
      ...serving.caches,
      answerCacheBytes: shareOf(settings.caches.answerCacheBytes, settings.network.workers),
    },
    readSide,
    strapi: {
      ...serving.strapi,
      strictRelations: requiresRelations(settings, project),
    },
    fleet: { ...serving.fleet, presence: createPresence(), fleetLog: logFleet(logger) },
    data: {
      ...settings.data,
      assets: settings.files.assets,
      searches: searchLogSettings(settings, logger),
      reportReplaced(file: string, reason: string) {
        logReplaced(logger)(file, reason);
        basis.operating.readiness.loading(`A file is made again from the event log: ${reason}`);
      },
    },
    files: {
      ...settings.files,
      pictureFormats: await choosePictureFormats(settings.files, logger),
      leftWithoutFormats: (picture: string, reason: string) =>
        logger.warn(
          { picture, reason },
          'the smaller pictures of an upload could not be made: varve assets formats tries again',
        ),
    },
  };
}

function searchLogSettings(
  { data, operating }: ServeSettings,
  logger: Logger,
): VarveOptions['data']['searches'] {
  const { searchLogDays: days } = operating;
  return days === 0 ? undefined : { folder: data.data, days, report: logSearches(logger) };
}

/** Returns the options of a process of any role that answers requests. */
export function servingOptions(
  settings: ServeSettings,
  { logger, contentTypes, project, login, operating }: Omit<WorkerBasis, 'readSide'>,
  pid: number,
) {
  const { content, access, strapi, caches, network } = settings;
  return {
    content: {
      ...contentTypes,
      defaultLocale: content.defaultLocale,
      convertAtOnce: content.convertAtOnce,
    },
    access: { accessKey: access.accessKey, login },
    strapi: {
      usersEnvelope: strapi.usersEnvelope,
      rules: requestRules(strapi, project, { logger, metrics: operating.metrics }),
    },
    caches: {
      answerCacheBytes: caches.answerCacheBytes,
      tagging: taggingSettings(caches),
      lifetime: lifetimeOf(caches),
      unwatched: logUnwatched(logger),
      cacheToken: logCacheToken(caches.cacheToken, logger),
    },
    fleet: { minPositionWait: network.minPositionWait },
    operating,
    worker: { pid, processes: createProcessList(operating, placeOf(settings, operating)) },
  };
}

/** Returns the data directory of a process, or its host and port if it has none. With a port of the system's choice it has no place. */
function placeOf(
  { data: { data }, network: { host, port } }: ServeSettings,
  { role }: Pick<Operating, 'role'>,
): string | null {
  if (role !== 'api') return resolve(data);
  return port === 0 ? null : `${host}:${port}`;
}

/**
 * Returns when formats are made: as the setting says, else before an upload is answered. If sharp is missing, throws a message if the
 * setting needs it; without a setting no formats are made, and a log line says so.
 */
async function choosePictureFormats(
  { pictureFormats }: ServeSettings['files'],
  logger: Pick<Logger, 'warn'>,
): Promise<FormatsMade> {
  if (pictureFormats === 'off') return 'off';
  try {
    await requireSharp(`--picture-formats ${pictureFormats ?? 'before'}`);
    return pictureFormats ?? 'before';
  } catch (error) {
    if (pictureFormats !== undefined) throw error;
    logger.warn({}, `no smaller pictures of uploads are made: ${(error as Error).message}`);
    return 'off';
  }
}
