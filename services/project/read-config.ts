import path from 'node:path';
import { createEvaluateModule, type Evaluated, projectVariables } from './evaluate-project.ts';
import { configFile } from './project-files.ts';

/** Part of a project's configuration, such as `config/api`, and the files that it is read from. */
export type ProjectConfig = { readonly files: readonly string[]; readonly evaluated: Evaluated };

/**
 * Reads `config/<name>` of the project at `root`, and merges `config/env/<NODE_ENV>/<name>` over it, as Strapi does. undefined: the
 * project has neither.
 */
export function readConfig(root: string, name: string): ProjectConfig | undefined {
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

/** Merges two values of JSON member by member, also lists: so does lodash, which Strapi uses. */
function merged(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above) || Array.isArray(below) !== Array.isArray(above)) return above;
  const members = Object.entries(above).map(([name, value]) => [name, merged(below[name], value)] as const);
  return Object.assign(Array.isArray(below) ? [...below] : { ...below }, Object.fromEntries(members));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
