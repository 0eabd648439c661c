import type { Logger } from 'pino';
import { createPresence } from '../../fleet/presence.ts';
import type { Operating } from '../../operating/operating.ts';
import type { VarveOptions } from '../../process/process-options.ts';
import type { readApiConfig } from '../../project/read-api-config.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import { logFleet } from '../output/log-fleet.ts';
import { logCacheToken, logUnreported } from '../output/log-purges.ts';
import { logReplaced } from '../output/print-replaced.ts';
import { lifetimeOf, taggingSettings } from '../settings/delivery-settings.ts';
import type { readContentTypes } from '../settings/read-content-types.ts';
import { requestRules } from '../settings/request-rules.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { shareOf } from '../settings/worker-settings.ts';
import { choosePictureFormats, logLeftPicture } from './picture-formats.ts';

/** Things that a worker reads and opens before its data. */
export type WorkerBasis = {
  readonly logger: Logger;
  readonly contentTypes: Awaited<ReturnType<typeof readContentTypes>>;
  readonly project: ReturnType<typeof readApiConfig>;
  readonly readSide: VarveOptions['readSide'];
  readonly login: VarveOptions['login'];
  readonly operating: Operating;
};

/** The options of `openVarve` that are the same for every worker of `varve serve`, the leading one and those next to it. */
export async function workerOptions(settings: ServeSettings, supervisor: Supervisor, basis: WorkerBasis) {
  const { logger, contentTypes, project, readSide, login, operating } = basis;
  return {
    ...settings,
    ...contentTypes,
    answerCacheBytes: shareOf(settings.answerCacheBytes, settings.workers),
    readSide,
    operating,
    pid: supervisor.pid,
    login,
    strictRelations: settings.strictRelations ?? project?.strictRelations ?? true,
    rules: requestRules(settings, project, { logger, metrics: operating.metrics }),
    presence: createPresence(),
    fleetLog: logFleet(logger),
    tagging: taggingSettings(settings),
    lifetime: lifetimeOf(settings),
    unreported: logUnreported(logger),
    cacheToken: logCacheToken(settings.cacheToken, logger),
    reportReplaced: logReplaced(logger),
    pictureFormats: await choosePictureFormats(settings, logger),
    leftWithoutFormats: logLeftPicture(logger),
  };
}
