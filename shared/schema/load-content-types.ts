import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { buildRegistry, type SchemaFile } from './build-registry.ts';
import type { SchemaProblem } from './schema-problem.ts';
import type { SchemaRegistry } from './schema-registry.ts';
import { definitionsOf, type TypeDefinition } from './type-definitions.ts';

export type LoadedContentTypes =
  | {
      readonly kind: 'loaded';
      readonly registry: SchemaRegistry;
      /** Every content type with its components as read, for the log. */
      readonly definitions: readonly TypeDefinition[];
      /** Files that Strapi would read and Varve does not. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly SchemaProblem[] };

type Place =
  | { readonly model: 'contentType'; readonly namespace: string }
  | { readonly model: 'component'; readonly uid: string };

/**
 * Reads a Strapi project's `src` (`api/<api>/content-types/<type>/schema.json`, `components/<category>/<name>.json`), the
 * project itself, or a folder with such files directly (`<type>.json` or `<type>/schema.json`, and `components`). With anything wrong
 * in any file, the answer is every problem of all of them.
 */
export function loadContentTypes(folder: string, defaultLocale = 'en'): LoadedContentTypes {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return { kind: 'problems', problems: [{ file: folder, path: '$', message: 'there is no such folder' }] };
  }
  const root = existsSync(path.join(folder, 'src', 'api')) ? path.join(folder, 'src') : folder;
  const unreadable: SchemaProblem[] = [];
  const files = findFiles(root).flatMap(({ file, place }) =>
    readJson(path.join(root, file), place, unreadable),
  );
  if (!files.some(({ model }) => model === 'contentType') && unreadable.length === 0) {
    const expected = 'expected api/<api>/content-types/<type>/schema.json or <type>.json';
    unreadable.push({ file: folder, path: '$', message: `there is no content type: ${expected}` });
  }
  const parsed = buildRegistry(files);
  const problems = [...unreadable, ...missingSchemas(root), ...parsed.problems];
  if (problems.length > 0) return { kind: 'problems', problems: problems.sort(byPlace) };
  return {
    kind: 'loaded',
    registry: parsed.registry,
    definitions: definitionsOf(parsed, defaultLocale),
    ignored: find(root, 'extensions/*/content-types/*/schema.json').map((file) => path.join(root, file)),
  };
}

function findFiles(root: string): { file: string; place: Place }[] {
  const components = find(root, 'components/*/*.json').map((file) => {
    const [, category, name] = file.split(path.sep);
    return {
      file,
      place: { model: 'component', uid: `${category}.${path.basename(name ?? '', '.json')}` } as const,
    };
  });
  const types = existsSync(path.join(root, 'api'))
    ? find(root, 'api/*/content-types/*/schema.json').map((file) => typeFile(file, file.split(path.sep)[1]))
    : [...find(root, '*.json'), ...find(root, '*/schema.json')].map((file) => typeFile(file, undefined));
  return [...components, ...types];
}

/** A type outside an api folder is an api of its own, named as it is. */
function typeFile(file: string, api: string | undefined): { file: string; place: Place } {
  const own =
    path.basename(file) === 'schema.json' ? path.basename(path.dirname(file)) : path.basename(file, '.json');
  return { file, place: { model: 'contentType', namespace: `api::${api ?? own}` } };
}

function find(root: string, pattern: string): string[] {
  return globSync(pattern, { cwd: root }).sort();
}

function readJson(file: string, place: Place, unreadable: SchemaProblem[]): SchemaFile[] {
  try {
    return [{ ...place, file, json: JSON.parse(readFileSync(file, 'utf8')) }];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    unreadable.push({ file, path: '$', message });
    return [];
  }
}

/** Strapi also runs schema.js; Varve reads data only, and says so rather than leaving a type out. */
function missingSchemas(root: string): SchemaProblem[] {
  return find(root, 'api/*/content-types/*/')
    .filter(
      (type) =>
        statSync(path.join(root, type)).isDirectory() && !existsSync(path.join(root, type, 'schema.json')),
    )
    .map((type) => ({ file: path.join(root, type), path: '$', message: 'there is no schema.json' }));
}

function byPlace(a: SchemaProblem, b: SchemaProblem): number {
  const [left, right] = [`${a.file} ${a.path}`, `${b.file} ${b.path}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
