import { readApiConfig } from '../../project/read-api-config.ts';
import { createLogger } from '../output/create-logger.ts';
import { refuseOpenHost } from '../settings/access-log.ts';
import { corsOrigins } from '../settings/cors-origins.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { readLoginPlan } from './login-plan.ts';
import { parsePublic } from './public-rights.ts';

/** Settings and project of a server, read and checked before anything is opened. */
export type ServerPlan = Awaited<ReturnType<typeof readServerPlan>>;

/** Reads and checks the plan. Rejects with a message about the first wrong part. */
export async function readServerPlan(settings: ServeSettings) {
  const logger = await createLogger(settings);
  const project = readApiConfig(settings.contentTypes);
  const contentTypes = await readContentTypes(settings, logger, project);
  const pages = corsOrigins(settings, logger);
  const paths = { apiPrefix: project?.prefix ?? '/api', corsOrigins: pages.origins };
  const publicRights = parsePublic(settings.public, contentTypes.registry);
  const login = readLoginPlan(settings, logger);
  await refuseOpenHost(settings, publicRights !== undefined, login !== undefined);
  return { settings, logger, contentTypes, project, pages, paths, publicRights, login };
}
