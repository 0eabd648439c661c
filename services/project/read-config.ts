import { existsSync } from 'node:fs';
import path from 'node:path';
import { createEvaluateModule, type Evaluated, projectVariables } from './evaluate-project.ts';
import { projectRoot } from './project-root.ts';

/** Part of a project's configuration, such as `config/api`, and the files that it is read from. */
export type ProjectConfig = { readonly files: readonly string[]; readonly evaluated: Evaluated };

/**
 * Reads `config/<name>` next to a project's `src`, and merges `config/env/<NODE_ENV>/<name>` over it, as Strapi does. Returns undefined if
 * the folder is not in a project, or if the project has neither file.
 */
export function readConfig(contentTypes: string, name: string): ProjectConfig | undefined {
  const root = projectRoot(contentTypes);
  if (root === undefined) return undefined;
  const environment = path.basename(projectVariables(root).NODE_ENV);
  const files = [name, path.join('env', environment, name)].flatMap((each) => configFile(root, each) ?? []);
  if (files.length === 0) return undefined;
  const evaluate = createEvaluateModule(root);
  let value: unknown;
  for (const file of files) {
    const evaluated = evaluate(file);
    if (evaluated.kind === 'failed') return { files, evaluated };
    value = merged(value, evaluated.value);
  }
  return { files, evaluated: { kind: 'value', value } };
}

/** Returns a configuration file of the project; undefined if it has none of this name. */
function configFile(root: string, name: string): string | undefined {
  return ['ts', 'js', 'mjs', 'cjs', 'json']
    .map((extension) => path.join(root, 'config', `${name}.${extension}`))
    .find((candidate) => existsSync(candidate));
}

/** Merges two JSON values member by member, including lists, like lodash, which Strapi uses. */
function merged(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above) || Array.isArray(below) !== Array.isArray(above)) return above;
  const members = Object.entries(above).map(([name, value]) => [name, merged(below[name], value)] as const);
  return Object.assign(Array.isArray(below) ? [...below] : { ...below }, Object.fromEntries(members));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
