import { z } from 'zod';
import { commaList } from '../../shared/comma-list.ts';
import { readConfig } from './read-config.ts';

/** Origins that a project's `config/middlewares` lists for `strapi::cors`. */
export type CorsConfig = {
  readonly file: string;
  /** Undefined if the file lists none: then Strapi allows every origin. */
  readonly origins: readonly string[] | undefined;
  /** The reason why the file could not be read. */
  readonly failure?: string;
};

const CORS = z.looseObject({
  name: z.literal('strapi::cors'),
  config: z.looseObject({ origin: z.union([z.string(), z.array(z.string())]) }),
});

/** Reads the configuration next to a project's `src`; undefined if the folder is not a project or has none. */
export function readCorsConfig(contentTypes: string): CorsConfig | undefined {
  const found = readConfig(contentTypes, 'middlewares');
  if (found === undefined) return undefined;
  const { files, evaluated } = found;
  const file = files.join(' and ');
  if (evaluated.kind === 'failed') return { file, origins: undefined, failure: evaluated.reason };
  const middlewares = Array.isArray(evaluated.value) ? (evaluated.value as readonly unknown[]) : [];
  const origins = middlewares.flatMap((middleware) => {
    const { success, data } = CORS.safeParse(middleware);
    return success ? [data.config.origin] : [];
  });
  // Strapi takes several origins in one text.
  return { file, origins: origins.length === 0 ? undefined : origins.flat().flatMap(commaList) };
}
