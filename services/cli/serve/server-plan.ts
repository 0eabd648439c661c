import { readApiConfig } from '../../project/read-api-config.ts';
import { createLogger } from '../output/create-logger.ts';
import { refuseOpenHost } from '../settings/access-log.ts';
import { corsOrigins } from '../settings/cors-origins.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { readLoginPlan } from './login-plan.ts';
import { parsePublic } from './public-rights.ts';

/** Settings and project of a server, read and checked before anything is opened. */
export type ServerPlan = Awaited<ReturnType<typeof readWorkerPlan>>;

/** Reads the plan, and refuses an address that is open to everyone. Rejects with a message about the first wrong part. */
export async function readServerPlan(settings: ServeSettings): Promise<ServerPlan> {
  const plan = await readWorkerPlan(settings);
  await refuseOpenHost(
    { ...settings.data, ...settings.network },
    plan.publicRights !== undefined,
    plan.login !== undefined,
  );
  return plan;
}

/** Reads the plan of a reading worker. The leader has checked the address. Rejects with a message about the first wrong part. */
export async function readWorkerPlan(settings: ServeSettings) {
  const logger = await createLogger(settings.operating);
  const project = readApiConfig(settings.content.contentTypes);
  const contentTypes = await readContentTypes(settings.content, logger, project);
  const pages = corsOrigins(settings, logger);
  const { routes: projectRoutes } = contentTypes.ownCode;
  const paths = { apiPrefix: project?.prefix ?? '/api', corsOrigins: pages.origins, projectRoutes };
  const publicRights = parsePublic(settings.access.public, contentTypes.registry);
  const login = readLoginPlan(settings, logger);
  return { settings, logger, contentTypes, project, pages, paths, publicRights, login };
}
