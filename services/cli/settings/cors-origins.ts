import type { Logger } from 'pino';
import { readCorsConfig } from '../../project/read-cors-config.ts';
import { isOrigin } from './network-settings.ts';
import type { ServeSettings } from './settings.ts';

/** Origins of pages that may call from a browser. `file`: the project's file that lists them. */
export type CorsOrigins = { readonly origins: readonly string[]; readonly file?: string };

/** Returns the origins of the setting, else those that the project lists. Strapi's default, every origin, is never used. */
export function corsOrigins(
  { network: { cors }, content: { contentTypes } }: ServeSettings,
  logger: Pick<Logger, 'warn'>,
): CorsOrigins {
  if (cors !== undefined) return { origins: cors };
  const project = readCorsConfig(contentTypes);
  if (project === undefined) return { origins: [] };
  const { file, failure, origins = [] } = project;
  if (failure !== undefined)
    logger.warn(
      { file, reason: failure },
      "the project's middlewares cannot be read: pass --cors to let pages of other origins call the API",
    );
  const usable = origins.filter(isOrigin);
  for (const origin of origins.filter((each) => !isOrigin(each)))
    logger.warn(
      { file, origin },
      'ignoring a value in the origins of the project, because it is not an origin',
    );
  return { origins: usable, ...(usable.length > 0 ? { file } : {}) };
}
