import { BUILT_IN_TYPES, isBuiltInType } from './built-in-types.ts';
import { componentCycles } from './check-component-cycles.ts';
import { checkNames } from './check-names.ts';
import { checkReferences } from './check-references.ts';
import type { Component, ContentType, Uid } from './content-type.ts';
import { parseComponent, parseContentType } from './parse-schema.ts';
import {
  problemReporter,
  type ReportProblem,
  type SchemaProblem,
  type SchemaWarning,
} from './schema-problem.ts';
import type { SchemaRegistry } from './schema-registry.ts';
import { checkDistinct } from './search-distinct.ts';
import { checkGeo } from './search-geo.ts';
import { checkRanking } from './search-ranking.ts';
import { checkThrough } from './search-through.ts';

/** A schema file after parsing as JSON. A content type's uid is `<namespace>.<singularName>`; a component's follows from its path. */
export type SchemaFile =
  | {
      readonly model: 'contentType';
      readonly file: string;
      readonly namespace: string;
      readonly json: unknown;
    }
  | { readonly model: 'component'; readonly file: string; readonly uid: Uid; readonly json: unknown };

/** Files of a project after a step that may omit or change some of them, with a warning for each. */
export type CheckedFiles = {
  readonly files: readonly SchemaFile[];
  readonly warnings: readonly SchemaWarning[];
};

export type ParsedFiles = {
  /** Registry with the built-in types. Later files of a uid do not replace earlier ones. */
  readonly registry: SchemaRegistry;
  /** JSON from which each model of the registry was read. Built-in types have none. */
  readonly sources: ReadonlyMap<Uid, unknown>;
  /** File of each model that has one. */
  readonly fileOf: ReadonlyMap<Uid, string>;
  readonly problems: readonly SchemaProblem[];
};

type Parsed<Model> = {
  readonly model: Model;
  readonly json: unknown;
  readonly file: string;
  readonly report: ReportProblem;
};

/**
 * Parses schema files and checks them against each other. Every target, inverse side and component must exist and fit. No component may
 * contain itself. No two types may share a name. `problems` has every problem of every file. If it is empty, the whole registry is valid.
 */
export function buildRegistry(files: readonly SchemaFile[]): ParsedFiles {
  const problems: SchemaProblem[] = [];
  const { types, components } = parseFiles(files, problems);
  // A project's extension of a built-in type replaces it.
  const extended = types.filter(({ model }) => model.builtIn);
  const builtIn = BUILT_IN_TYPES.filter(({ uid }) => !extended.some(({ model }) => model.uid === uid)).map(
    (model) => ({ model, json: null, file: 'built in', report: problemReporter(problems, 'built in') }),
  );
  const allTypes: readonly Parsed<ContentType>[] = [
    ...builtIn,
    ...extended,
    ...types.filter(({ model }) => !model.builtIn),
  ];
  const registry: SchemaRegistry = { contentTypes: byUid(allTypes), components: byUid(components) };
  checkNames(allTypes);
  for (const { model, report } of [...types, ...components]) checkReferences(model, registry, report);
  for (const { model, report } of types) {
    checkThrough(model, registry, report);
    checkRanking(model, report);
    checkDistinct(model, report);
    checkGeo(model, report);
  }
  for (const { model, report } of components) {
    for (const { path, chain } of componentCycles(registry.components, model)) {
      const message = `a component that contains itself: ${chain.join(' → ')}`;
      report(['attributes', ...path], message);
    }
  }
  const sources = new Map<Uid, unknown>(
    [...types, ...components].map(({ model, json }) => [model.uid, json]),
  );
  const fileOf = new Map<Uid, string>([...types, ...components].map(({ model, file }) => [model.uid, file]));
  return { registry, sources, fileOf, problems };
}

function parseFiles(files: readonly SchemaFile[], problems: SchemaProblem[]) {
  const types: Parsed<ContentType>[] = [];
  const components: Parsed<Component>[] = [];
  for (const source of files) {
    const { file, json } = source;
    const report = problemReporter(problems, file);
    if (source.model === 'component') {
      const model = parseComponent(json, source.uid, report);
      if (model !== undefined) components.push({ model, json, file, report });
    } else {
      const parsed = parseContentType(json, report);
      if (parsed === undefined) continue;
      const uid = `${source.namespace}.${parsed.singularName}`;
      types.push({ model: { uid, ...parsed, builtIn: isBuiltInType(uid) }, json, file, report });
    }
  }
  return { types, components };
}

function byUid<Model extends { readonly uid: Uid }>(parsed: readonly Parsed<Model>[]): Map<Uid, Model> {
  const models = new Map<Uid, Model>();
  for (const { model } of parsed) if (!models.has(model.uid)) models.set(model.uid, model);
  return models;
}
