import type { Logger } from 'pino';
import { readApiConfig } from '../../project/read-api-config.ts';
import { createLogger } from '../output/create-logger.ts';
import { refuseOpenHost } from '../settings/access-log.ts';
import { type CorsOrigins, corsOrigins } from '../settings/cors-origins.ts';
import { type ReadContentTypes, readContentTypes } from '../settings/read-content-types.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { readLoginPlan } from './login-plan.ts';
import { parsePublic } from './public-rights.ts';

/** Settings and project of a server that greets, read and checked before anything is opened. */
export type ServerPlan = {
  readonly settings: ServeSettings;
  readonly logger: Logger;
  readonly contentTypes: ReadContentTypes;
  readonly project: ReturnType<typeof readApiConfig>;
  readonly pages: CorsOrigins;
  readonly paths: { readonly apiPrefix: string; readonly corsOrigins: readonly string[] };
  readonly publicRights: ReturnType<typeof parsePublic>;
  readonly login: ReturnType<typeof readLoginPlan>;
};

/** Rejects with a message about the first thing that is wrong. */
export async function readServerPlan(settings: ServeSettings): Promise<ServerPlan> {
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
