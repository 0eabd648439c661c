import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { CheckedFiles, SchemaFile } from './build-registry.ts';
import { extendedSchema } from './built-in-types.ts';
import type { Uid } from './content-type.ts';
import { type HiddenAttributes, hideAttributes, hideDeclaredTimes } from './hide-attributes.ts';
import { withoutNameConflicts } from './name-conflicts.ts';
import { type CustomFields, repairSchemas } from './repair-schemas.ts';
import { type SchemaProblem, type SchemaWarning, schemaProblem } from './schema-problem.ts';
import type { SchemaRegistry } from './schema-registry.ts';
import { definitionsOf, type TypeDefinition } from './type-definitions.ts';

export type LoadedContentTypes =
  | {
      readonly kind: 'loaded';
      readonly registry: SchemaRegistry;
      /** All content types with their components as they were read, for the log. */
      readonly definitions: readonly TypeDefinition[];
      /** Parts that were omitted or changed so that the rest can be served. */
      readonly warnings: readonly SchemaWarning[];
      /** File of each content type and component that has one. */
      readonly fileOf: ReadonlyMap<Uid, string>;
    }
  | { readonly kind: 'problems'; readonly problems: readonly SchemaProblem[] };

type FileKind =
  | { readonly model: 'contentType'; readonly namespace: string }
  | { readonly model: 'component'; readonly uid: string };

export type LoadOptions = {
  /** Locale of entries without one. Default: `en`. */
  readonly defaultLocale?: string | undefined;
  /** Turns every warning into a problem. */
  readonly strict?: boolean;
  /** Stored types of custom fields, in addition to the well-known ones. */
  readonly customFields?: CustomFields;
  /** True: answers show times with three digits of a second. */
  readonly timeMilliseconds?: boolean;
  /** Attributes that are private in addition to those of the files. */
  readonly hidden?: HiddenAttributes | undefined;
  /** Evaluates schema files that are code. Absent: a type with such a file is a problem. */
  readonly evaluate?: (file: string) => EvaluatedSchema;
};

/** JSON export of a schema file that is code, or the reason why there is none. */
export type EvaluatedSchema =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Reads the content types of a Strapi project. `folder` may be its `src` (`api/<api>/content-types/<type>/schema.json`,
 * `components/<category>/<name>.json`), the project itself, or a folder that has such files directly (`<type>.json` or
 * `<type>/schema.json`, and `components`). Parts that Strapi accepts and Varve cannot serve are omitted (see repairSchemas). If anything
 * else is wrong, the result has every problem of all files.
 */
export function loadContentTypes(folder: string, options: LoadOptions = {}): LoadedContentTypes {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return { kind: 'problems', problems: [schemaProblem(folder, [], 'there is no such folder')] };
  }
  const root = existsSync(path.join(folder, 'src', 'api')) ? path.join(folder, 'src') : folder;
  const unreadable: SchemaProblem[] = [];
  const files = findFiles(root).flatMap(({ file, kind }) =>
    readJson(path.join(root, file), kind, unreadable),
  );
  if (!files.some(({ model }) => model === 'contentType') && unreadable.length === 0) {
    const expected = 'expected api/<api>/content-types/<type>/schema.json or <type>.json';
    unreadable.push(schemaProblem(folder, [], `there is no content type: ${expected}`));
  }
  files.push(...evaluateSchemas(root, options.evaluate, unreadable));
  const extensions = readExtensions(root, unreadable);
  files.push(...readPluginTypes(root, unreadable), ...extensions.files);
  return assembleContentTypes(files, options, { unreadable, warnings: extensions.warnings });
}

/** Problems of single files that were found before the files were checked together. */
export type FoundBefore = {
  readonly unreadable: readonly SchemaProblem[];
  readonly warnings: readonly SchemaWarning[];
};

/** Returns the content types of schema files from any source. */
export function assembleContentTypes(
  found: readonly SchemaFile[],
  options: LoadOptions = {},
  { unreadable, warnings: before }: FoundBefore = { unreadable: [], warnings: [] },
): LoadedContentTypes {
  const { files, warnings: taken } = withoutNameConflicts(found);
  const { files: declared, warnings: times } = hideDeclaredTimes(files);
  const { files: hiding, warnings: shown } = hideAttributes(
    declared,
    options.hidden ?? { file: '', names: [] },
  );
  const parsed = repairSchemas(hiding, options.customFields, options.timeMilliseconds);
  const warnings = [...before, ...taken, ...times, ...shown, ...parsed.warnings];
  const refused = options.strict === true ? warnings.map(asProblem) : [];
  const problems = [...unreadable, ...parsed.problems, ...refused];
  if (problems.length > 0) return { kind: 'problems', problems: problems.sort(byLocation) };
  return {
    kind: 'loaded',
    registry: parsed.registry,
    definitions: definitionsOf(parsed, options.defaultLocale ?? 'en'),
    warnings: warnings.sort(byLocation),
    fileOf: parsed.fileOf,
  };
}

function asProblem({ file, path, message, action }: SchemaWarning): SchemaProblem {
  return { file, path, segments: [], message: `${message} (without --strict-schemas: ${action})` };
}

/** Reads the attributes that a project adds to types of plugins. Those of users and files are served. */
function readExtensions(root: string, unreadable: SchemaProblem[]): CheckedFiles {
  const files: SchemaFile[] = [];
  const warnings: SchemaWarning[] = [];
  for (const found of find(root, 'extensions/*/content-types/*/schema.json')) {
    const [, plugin, , type] = found.split(path.sep);
    const namespace = `plugin::${plugin}`;
    for (const source of readJson(path.join(root, found), { model: 'contentType', namespace }, unreadable)) {
      const json = extendedSchema(`${namespace}.${type}`, source.json);
      if (json !== undefined) files.push({ ...source, json });
      else warnings.push({ ...NOT_SERVED, file: source.file });
    }
  }
  return { files, warnings };
}

/** Reads the content types of plugins that are in the project's own folder. */
function readPluginTypes(root: string, unreadable: SchemaProblem[]): SchemaFile[] {
  return find(root, 'plugins/*/{server/src/,server/,}content-types/*/schema.json').flatMap((file) => {
    const namespace = `plugin::${file.split(path.sep)[1]}`;
    return readJson(path.join(root, file), { model: 'contentType', namespace }, unreadable);
  });
}

const NOT_SERVED = { path: '$', message: 'types of this plugin are not served', action: 'left out' } as const;

function findFiles(root: string): { file: string; kind: FileKind }[] {
  const components = find(root, 'components/*/*.json').map((file) => {
    const [, category, name = ''] = file.split(path.sep);
    const uid = `${category}.${path.basename(name, '.json')}`;
    return { file, kind: { model: 'component', uid } as const };
  });
  const types = existsSync(path.join(root, 'api'))
    ? find(root, 'api/*/content-types/*/schema.json').map((file) => typeFile(file, file.split(path.sep)[1]))
    : [...find(root, '*.json'), ...find(root, '*/schema.json')].map((file) => typeFile(file, undefined));
  return [...components, ...types];
}

/** Returns a type's file with its kind. A type outside of an api folder is an api of its own, with the same name. */
function typeFile(file: string, api: string | undefined): { file: string; kind: FileKind } {
  const own =
    path.basename(file) === 'schema.json' ? path.basename(path.dirname(file)) : path.basename(file, '.json');
  return { file, kind: { model: 'contentType', namespace: `api::${api ?? own}` } };
}

function find(root: string, pattern: string): string[] {
  return globSync(pattern, { cwd: root }).sort();
}

function readJson(file: string, kind: FileKind, unreadable: SchemaProblem[]): SchemaFile[] {
  try {
    // Editors on Windows begin files with a byte order mark, which Strapi skips.
    const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    return [{ ...kind, file, json: JSON.parse(text) }];
  } catch (error) {
    unreadable.push(schemaProblem(file, [], (error as Error).message));
    return [];
  }
}

/**
 * Evaluates types whose schema is code, as Strapi does. A type that cannot be evaluated is a problem, because it would otherwise be omitted
 * silently.
 */
function evaluateSchemas(
  root: string,
  evaluate: LoadOptions['evaluate'],
  unreadable: SchemaProblem[],
): SchemaFile[] {
  return find(root, 'api/*/content-types/*/').flatMap((found): SchemaFile[] => {
    const folder = path.join(root, found);
    if (!statSync(folder).isDirectory() || existsSync(path.join(folder, 'schema.json'))) return [];
    const file = CODE.map((name) => path.join(folder, name)).find((candidate) => existsSync(candidate));
    if (file === undefined || evaluate === undefined) {
      unreadable.push(schemaProblem(folder, [], 'there is no schema.json'));
      return [];
    }
    const evaluated = evaluate(file);
    if (evaluated.kind === 'value') {
      const namespace = `api::${found.split(path.sep)[1]}`;
      return [{ model: 'contentType', namespace, file, json: evaluated.value }];
    }
    unreadable.push(schemaProblem(file, [], `it cannot be evaluated: ${evaluated.reason}`));
    return [];
  });
}

const CODE = ['schema.ts', 'schema.js', 'schema.mjs', 'schema.cjs'];

type Located = Pick<SchemaProblem, 'file' | 'path'>;

function byLocation(a: Located, b: Located): number {
  const [left, right] = [`${a.file} ${a.path}`, `${b.file} ${b.path}`];
  return left < right ? -1 : Number(left > right);
}
