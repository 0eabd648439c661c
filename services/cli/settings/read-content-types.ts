import path from 'node:path';
import type { Logger } from 'pino';
import { SCALAR_TYPES } from '../../../shared/schema/content-type.ts';
import { assembleContentTypes, loadContentTypes } from '../../../shared/schema/load-content-types.ts';
import type { CustomFields } from '../../../shared/schema/repair-schemas.ts';
import {
  problemLine,
  type SchemaProblem,
  type SchemaWarning,
} from '../../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { createLossCheck, type RefuseLosses } from '../../content-types/loss-check.ts';
import { createEvaluateModule } from '../../project/evaluate-project.ts';
import { type FoundCode, findOwnCode, NO_CODE } from '../../project/own-code.ts';
import { projectRoot, projectsBelow } from '../../project/project-root.ts';
import { type ApiConfig, readApiConfig } from '../../project/read-api-config.ts';
import { readDatabaseClient } from '../../project/read-database-client.ts';
import { registeredFields } from '../../project/registered-fields.ts';
import { checkDefaultPopulates } from '../../query/default-populate.ts';
import { checkBoosts } from '../../query/owner-ranking.ts';
import { isArchive } from '../../strapi/archive.ts';
import { readArchiveSchemas } from '../../strapi/archive-schemas.ts';
import { codeLines, isServedRoute } from './own-code-lines.ts';
import { withSynonyms } from './read-synonyms.ts';

export type ContentTypeSettings = {
  readonly contentTypes: string;
  readonly strictSchemas: boolean;
  readonly customField: CustomFields;
  /** Absent: as the project's database does. */
  readonly timeMilliseconds?: boolean | undefined;
  /** Names of attributes whose values a change of content types may drop. Default: none. */
  readonly acceptLoss?: readonly string[];
  /** Passphrase of an encrypted archive. */
  readonly key?: string | undefined;
  /** Default: `en`. */
  readonly defaultLocale?: string;
  /** File with synonyms for searches. */
  readonly synonyms?: string | undefined;
};

export type ReadContentTypes = {
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  /** Parts of the files that are not served as they are. */
  readonly schemaWarnings: readonly SchemaWarning[];
  /** Code of the project that Varve does not run. */
  readonly ownCode: FoundCode;
  /** The same, as lines for people. */
  readonly codeNotes: readonly string[];
  /** Throws unless the settings accept every loss. */
  readonly refuseLosses: RefuseLosses;
};

/**
 * Reads the content types of a folder, or of an archive that `strapi export` wrote. `project` is the configuration of the project of the
 * folder. Logs each warning once. Throws one error that lists every problem of every file.
 */
export async function readContentTypes(
  settings: ContentTypeSettings,
  logger: Pick<Logger, 'warn'>,
  project: ApiConfig | undefined = readApiConfig(settings.contentTypes),
): Promise<ReadContentTypes> {
  const { contentTypes: folder, strictSchemas: strict, defaultLocale } = settings;
  const customFields = { ...ownFields(folder), ...settings.customField };
  const evaluate = (file: string) => createEvaluateModule(folder)(file);
  const hidden = project && { file: project.file, names: project.privateAttributes };
  const timeMilliseconds = settings.timeMilliseconds ?? readDatabaseClient(folder) === 'sqlite';
  const options = { strict, customFields, defaultLocale, evaluate, hidden, timeMilliseconds };
  const loaded = isArchive(folder)
    ? assembleContentTypes(await readArchiveSchemas({ file: folder, key: settings.key }), options)
    : loadContentTypes(folder, options);
  const problems = loaded.kind === 'problems' ? loaded.problems : filterProblems(loaded.registry);
  if (loaded.kind === 'problems' || problems.length > 0) {
    const below = projectRoot(folder) === undefined && !isArchive(folder) ? projectsBelow(folder) : [];
    if (below.length > 0)
      throw new Error(
        `${folder} is not a Strapi project, but contains ${below.join(', ')}: pass --content-types ${below[0]}`,
      );
    const lines = problems.map((problem) => `  ${problemLine(problem)}`);
    throw new Error(`the content types in ${folder} cannot be used\n${lines.join('\n')}`);
  }
  for (const { message, ...where } of loaded.warnings) logger.warn(where, message);
  const { definitions, warnings: schemaWarnings, fileOf } = loaded;
  const registry = withSynonyms(settings.synonyms, loaded.registry);
  const accepted = settings.acceptLoss ?? [];
  const refuseLosses = createLossCheck({ folder, fileOf, warnings: schemaWarnings, accepted });
  const ownCode = codeOf(folder, registry);
  const codeNotes = codeLines(ownCode, registry);
  return { registry, definitions, schemaWarnings, ownCode, codeNotes, refuseLosses };
}

/** Returns the problems of the parts of schemas that are queries. */
function filterProblems(registry: SchemaRegistry): readonly SchemaProblem[] {
  return [...checkDefaultPopulates(registry), ...checkBoosts(registry)];
}

function codeOf(folder: string, registry: SchemaRegistry): FoundCode {
  const root = projectRoot(folder);
  return root === undefined ? NO_CODE : findOwnCode(path.join(root, 'src'), isServedRoute(registry));
}

/** Returns the custom fields of the project's own plugins that have a type of Strapi. */
function ownFields(folder: string): CustomFields {
  const root = projectRoot(folder);
  const fields = root === undefined ? {} : registeredFields(path.join(root, 'src'));
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, name]) => {
      const type = SCALAR_TYPES.find((known) => known === name);
      return type === undefined ? [] : [[field, type]];
    }),
  );
}
