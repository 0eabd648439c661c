import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Custom fields by their uids, with the types that the project's code registers. */
export type RegisteredFields = { readonly [customField: string]: string };

/** Larger files are generated: a plugin's own code is small. */
const MAX_BYTES = 512 * 1024;
const MAX_FILES = 2_000;
const CALL = /strapi\??\.customFields\??\.register\s*\(/g;
/** Matches a part of the project's code that may register fields. The admin panel registers its own part of a field. */
const SOURCES = ['plugins/*/**/*.{ts,js,mjs,cjs}', 'index.{ts,js,mjs,cjs}', 'extensions/*/*.{ts,js,mjs,cjs}'];

/**
 * Returns the custom fields that the code of a project registers; `source` is its `src`. Reads the code as text and runs nothing: a type or a name that
 * is not a literal is unknown. A plugin that names itself by a constant has the name of its folder.
 */
export function registeredFields(source: string): RegisteredFields {
  const exclude = (name: string) => /(^|[\\/])(node_modules|admin)$/.test(name);
  const files = globSync(SOURCES, { cwd: source, exclude }).sort().slice(0, MAX_FILES);
  return Object.assign({}, ...files.map((file) => fieldsIn(path.join(source, file), pluginOf(file))));
}

function pluginOf(file: string): string | undefined {
  const [folder, plugin] = file.split(path.sep);
  return folder === 'plugins' ? plugin : undefined;
}

function fieldsIn(file: string, folder: string | undefined): RegisteredFields {
  if (statSync(file).size > MAX_BYTES) return {};
  const code = readFileSync(file, 'utf8');
  const fields = [...code.matchAll(CALL)].flatMap(({ index, 0: call }) =>
    objectsIn(code.slice(index + call.length)).flatMap((each) => fieldOf(each, folder)),
  );
  return Object.fromEntries(fields);
}

function fieldOf(object: string, folder: string | undefined): [string, string][] {
  const literal = (member: string) =>
    new RegExp(`\\b${member}\\s*:\\s*(['"\`])([\\w-]+)\\1`).exec(object)?.[2];
  const named = (member: string) =>
    literal(member) ?? (new RegExp(`\\b${member}\\b`).test(object) ? folder : undefined);
  const [name, plugin, type] = [named('name'), named('plugin'), literal('type')];
  if (name === undefined || type === undefined) return [];
  return [[plugin === undefined ? `global::${name}` : `plugin::${plugin}.${name}`, type]];
}

/** Returns the outermost objects of a call's arguments, as text. */
function objectsIn(code: string): readonly string[] {
  const objects: string[] = [];
  let [parentheses, braces, start] = [1, 0, 0];
  for (let at = 0; at < code.length && parentheses > 0; at++) {
    const letter = code[at];
    if (letter === '(') parentheses++;
    else if (letter === ')') parentheses--;
    else if (letter === '{' && braces++ === 0) start = at;
    else if (letter === '}' && --braces === 0) objects.push(code.slice(start, at + 1));
  }
  return objects;
}
