import { z } from 'zod';
import { createEvaluateModule } from './evaluate-project.ts';
import { configFile, projectRoot } from './project-files.ts';

/** Origins that a project's `config/middlewares` lists for `strapi::cors`. */
export type CorsConfig = {
  readonly file: string;
  /** Undefined: the file lists none, so Strapi allows every origin. */
  readonly origins: readonly string[] | undefined;
  /** The reason why the file could not be read. */
  readonly failure?: string;
};

const CORS = z.looseObject({
  name: z.literal('strapi::cors'),
  config: z.looseObject({ origin: z.union([z.string(), z.array(z.string())]) }),
});

/** The configuration next to a project's `src`; undefined where the folder is not a project, or has none. */
export function readCorsConfig(contentTypes: string): CorsConfig | undefined {
  const root = projectRoot(contentTypes);
  const file = root && configFile(root, 'middlewares');
  if (root === undefined || file === undefined) return undefined;
  const evaluated = createEvaluateModule(root)(file);
  if (evaluated.kind === 'failed') return { file, origins: undefined, failure: evaluated.reason };
  const middlewares = Array.isArray(evaluated.value) ? (evaluated.value as readonly unknown[]) : [];
  const origins = middlewares.flatMap((middleware) => {
    const { success, data } = CORS.safeParse(middleware);
    return success ? [data.config.origin] : [];
  });
  return { file, origins: origins.length === 0 ? undefined : origins.flat().flatMap(listOf) };
}

/** Strapi takes several origins in one text. */
function listOf(text: string): readonly string[] {
  return text.split(',').flatMap((origin) => origin.trim() || []);
}
