import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { defined } from '../../shared/defined.ts';
import { createEvaluateModule } from './evaluate-project.ts';
import { configFile, projectRoot } from './project-files.ts';

/** Request settings of a project's `config/api`. A missing member has Strapi's default. */
export type ApiConfig = {
  readonly file: string;
  readonly strictParams: boolean;
  readonly strictRelations: boolean;
  readonly defaultLimit: number;
  readonly maxLimit: number | undefined;
  /** Names of attributes that no answer shows, in all content types and components. */
  readonly privateAttributes: readonly string[];
  /** Path of the API: `/api`, or its replacement. */
  readonly prefix: string;
  /** Why the file could not be read; the members then have Strapi's defaults. */
  readonly failure?: string;
};

const CONFIG = z.looseObject({
  documents: z.looseObject({ strictRelations: z.boolean().optional() }).optional(),
  rest: z
    .looseObject({
      defaultLimit: z.int().min(1).optional(),
      maxLimit: z.int().min(1).nullish(),
      prefix: z
        .string()
        .regex(/^\/[\w./-]*$/)
        .optional(),
      strictParams: z.boolean().optional(),
    })
    .optional(),
});

/** Read apart from the rest, so that nothing else that is wrong shows what is to be hidden. */
const HIDING = z.looseObject({ responses: z.looseObject({ privateAttributes: z.array(z.unknown()) }) });

/**
 * Configuration next to a project's `src`; undefined if the folder is not in a project, or has none. Throws if it cannot be evaluated and
 * makes attributes private: they would be shown.
 */
export function readApiConfig(contentTypes: string): ApiConfig | undefined {
  const root = projectRoot(contentTypes);
  if (root === undefined) return undefined;
  const file = configFile(root, 'api');
  if (file === undefined) return undefined;
  const evaluated = createEvaluateModule(root)(file);
  if (evaluated.kind === 'failed' && readFileSync(file, 'utf8').includes('privateAttributes')) {
    throw new Error(
      `${file} makes attributes private, and cannot be read: ${evaluated.reason}. Varve would show them.`,
    );
  }
  const result = evaluated.kind === 'value' ? CONFIG.safeParse(evaluated.value) : undefined;
  const { rest, documents } = result?.success === true ? result.data : {};
  const problem = evaluated.kind === 'failed' ? evaluated.reason : result?.error?.issues[0]?.message;
  return {
    file,
    strictParams: rest?.strictParams ?? false,
    strictRelations: documents?.strictRelations ?? false,
    defaultLimit: rest?.defaultLimit ?? 25,
    maxLimit: rest?.maxLimit === null ? undefined : (rest?.maxLimit ?? 100),
    privateAttributes: evaluated.kind === 'value' ? privateAttributes(evaluated.value) : [],
    prefix: rest?.prefix ?? '/api',
    ...defined({ failure: problem }),
  };
}

function privateAttributes(config: unknown): readonly string[] {
  const { data } = HIDING.safeParse(config);
  return (data?.responses.privateAttributes ?? []).filter((name) => typeof name === 'string');
}
