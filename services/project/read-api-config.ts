import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { isProject, projectRoot } from './project-root.ts';
import { readConfig } from './read-config.ts';

/** Request settings of a project's `config/api`. A missing member has Strapi's default. */
export type ApiConfig = {
  /** The file, or the two files that are merged. */
  readonly file: string;
  /** True to refuse unknown parameters. */
  readonly strictParams: boolean;
  /** True to refuse invalid values of `status` and `locale`. */
  readonly strictDocuments: boolean;
  readonly strictRelations: boolean;
  /** Page size of requests that name none; Infinity for the largest page allowed. */
  readonly defaultLimit: number;
  /** Largest page size; Infinity if the project sets no limit. */
  readonly maxLimit: number;
  /** True if lists have their total unless a request says otherwise. */
  readonly withCount: boolean;
  /** Names of attributes that no answer shows, in all content types and components. */
  readonly privateAttributes: readonly string[];
  /** Path of the API without a slash at its end: `/api` or its replacement; empty if the API has no prefix. */
  readonly prefix: string;
  /** Reason why the file or some of its members could not be read; those members have Strapi's defaults. */
  readonly failure?: string;
};

const FLAG = z.boolean().default(false);

/** Value of a limit that means all entries. */
const EVERYTHING = -1;

const DEFAULT_LIMIT = z.coerce
  .number()
  .refine((limit) => limit === EVERYTHING || (Number.isSafeInteger(limit) && limit >= 1), {
    error: 'must be a whole number from 1, or -1',
  })
  .transform((limit) => (limit === EVERYTHING ? Number.POSITIVE_INFINITY : limit))
  .default(25);

/** Parses a limit like Strapi: a text is read as a number, and a value that is not a number means no limit. */
const MAX_LIMIT = z.unknown().transform((value) => {
  const limit = Math.trunc(Number(value));
  return limit >= 1 ? limit : Number.POSITIVE_INFINITY;
});

const WITH_COUNT = z.unknown().transform((value) => value === undefined || Boolean(value));

const PREFIX = z
  .string()
  .regex(/^(?:\/[\w./-]*)?$/, { error: 'must be a path such as /api' })
  .nullable()
  .transform((prefix) => (prefix ?? '').replace(/\/$/, ''))
  .default('/api');

/** Private attributes are parsed on their own, so that an error elsewhere does not reveal them. */
const HIDING = z.looseObject({ responses: z.looseObject({ privateAttributes: z.array(z.unknown()) }) });

/**
 * Reads the API configuration next to a project's `src`. A project without one has Strapi's defaults. Returns undefined if the folder is not
 * in a project.
 * Throws if it cannot be evaluated and makes attributes private: answers would show them.
 */
export function readApiConfig(contentTypes: string): ApiConfig | undefined {
  const root = projectRoot(contentTypes);
  if (root === undefined) return undefined;
  const found = readConfig(contentTypes, 'api');
  if (found === undefined && !isProject(root)) return undefined;
  const { files, evaluated } = found ?? {
    files: [path.join(root, 'config', 'api')],
    evaluated: { kind: 'value', value: undefined } as const,
  };
  const file = files.join(' and ');
  const hides = () => files.some((each) => readFileSync(each, 'utf8').includes('privateAttributes'));
  if (evaluated.kind === 'failed' && hides()) {
    throw new Error(
      `${file} makes attributes private, and cannot be read: ${evaluated.reason}. Varve would show them.`,
    );
  }
  const problems = evaluated.kind === 'failed' ? [evaluated.reason] : [];
  const config = evaluated.kind === 'value' ? evaluated.value : undefined;
  /** Parses one member on its own: a wrong member does not affect another. */
  const read = <Value>(group: string, name: string, schema: z.ZodType<Value>): Value => {
    const result = schema.safeParse(memberOf(memberOf(config, group), name));
    if (result.success) return result.data;
    problems.push(`${group}.${name}: ${result.error.issues[0]?.message}`);
    return schema.parse(undefined);
  };
  return {
    file,
    strictParams: read('rest', 'strictParams', FLAG),
    strictDocuments: read('documents', 'strictParams', FLAG),
    strictRelations: read('documents', 'strictRelations', FLAG),
    defaultLimit: read('rest', 'defaultLimit', DEFAULT_LIMIT),
    // The limit in an unreadable file is unknown: the limit of Strapi's template is the safe choice.
    maxLimit: evaluated.kind === 'failed' ? 100 : read('rest', 'maxLimit', MAX_LIMIT),
    withCount: read('rest', 'withCount', WITH_COUNT),
    privateAttributes: privateAttributes(config),
    prefix: read('rest', 'prefix', PREFIX),
    ...(problems.length > 0 && { failure: problems.join('; ') }),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function privateAttributes(config: unknown): readonly string[] {
  const { data } = HIDING.safeParse(config);
  return (data?.responses.privateAttributes ?? []).filter((name) => typeof name === 'string');
}
