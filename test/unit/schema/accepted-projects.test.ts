import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadContentTypes } from '../../../shared/schema/load-content-types.ts';
import { problemLine, type SchemaWarning } from '../../../shared/schema/schema-problem.ts';
import { registryOfDefinitions } from '../../../shared/schema/type-definitions.ts';
import { ACCEPTED_PROJECTS } from './accepted-projects.ts';

const root = mkdtempSync(path.join(tmpdir(), 'varve-projects-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function folderOf(files: { readonly [file: string]: unknown }): string {
  const folder = mkdtempSync(path.join(root, 'project-'));
  for (const [file, json] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), JSON.stringify(json));
  }
  return folder;
}

/** Returns a warning as `attribute: action`, with the name of the type or component unless it is `thing`. */
function described({ file, path: at, action }: SchemaWarning): string {
  const [, category, name] = /components\/(.+)\/(.+)\.json$/.exec(file) ?? [];
  const model = category === undefined ? path.basename(path.dirname(file)) : `${category}.${name}`;
  const attribute = at.replace(/^\$\.(attributes\.)?/, '').replace(/\.customField$/, '');
  return `${model === 'thing' ? '' : `${model} `}${attribute}: ${action}`;
}

test('the corpus has at least 40 projects', () => {
  expect(ACCEPTED_PROJECTS.length).toBeGreaterThanOrEqual(40);
  expect(new Set(ACCEPTED_PROJECTS.map(({ title }) => title)).size).toBe(ACCEPTED_PROJECTS.length);
});

test.each(ACCEPTED_PROJECTS)('a project with $title starts', ({ files, warnings }) => {
  const folder = folderOf(files);
  const result = loadContentTypes(folder);
  if (result.kind === 'problems') throw new Error(result.problems.map(problemLine).join('\n'));
  expect(result.warnings.map(described).sort()).toEqual([...warnings].sort());
  expect(registryOfDefinitions(result.definitions)).toEqual(result.registry);
  const strict = loadContentTypes(folder, { strict: true });
  expect(strict.kind).toBe(warnings.length === 0 ? 'loaded' : 'problems');
});

test('a private attribute stays private if others are dropped', () => {
  for (const { files } of ACCEPTED_PROJECTS) {
    const result = loadContentTypes(folderOf(files));
    if (result.kind === 'problems') throw new Error(result.problems.map(problemLine).join('\n'));
    const attributes = result.registry.contentTypes.get('api::thing.thing')?.attributes;
    for (const name of ['secret']) expect(attributes?.get(name)?.private ?? true).toBe(true);
  }
});

test('the type of a custom field comes from the settings', () => {
  const project = ACCEPTED_PROJECTS.find(({ title }) => title === 'an unknown custom field');
  const folder = folderOf(project?.files ?? {});
  const result = loadContentTypes(folder, { customFields: { 'plugin::rating.stars': 'integer' } });
  if (result.kind === 'problems') throw new Error(result.problems.map(problemLine).join('\n'));
  expect(result.warnings).toEqual([]);
  const type = result.registry.contentTypes.get('api::thing.thing');
  expect(type?.attributes.get('x')).toMatchObject({ kind: 'scalar', type: 'integer' });
});
