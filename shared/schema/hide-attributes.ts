import { isRecord } from '../json-record.ts';
import type { CheckedFiles, SchemaFile } from './build-registry.ts';
import { builtInSchemas } from './built-in-types.ts';
import { uidOfFile } from './name-conflicts.ts';
import { SHOWN_SYSTEM_ATTRIBUTES, SYSTEM_TIMES } from './reserved-names.ts';
import { type SchemaWarning, schemaProblem } from './schema-problem.ts';

type Json = { readonly [key: string]: unknown };

/** Names of attributes that are private in every type, and the file that says so. */
export type HiddenAttributes = { readonly file: string; readonly names: readonly string[] };

/**
 * Makes attributes with these names private in every file, as Strapi does for `responses.privateAttributes` of `config/api`. A built-in
 * type with such an attribute gets a file. The times of rows belong to every content type. The sources change too, so that the log defines
 * what is served.
 */
export function hideAttributes(found: readonly SchemaFile[], hidden: HiddenAttributes): CheckedFiles {
  const { file, names } = hidden;
  const builtIn = builtInSchemas().flatMap(({ uid, namespace, json }): SchemaFile[] =>
    found.some((each) => each.model === 'contentType' && uidOfFile(each) === uid)
      ? []
      : [{ model: 'contentType', file, namespace, json }],
  );
  const shown = names.filter((name) => SHOWN_SYSTEM_ATTRIBUTES.includes(name));
  return {
    files: [
      ...found.map((each) => hideIn(each, names)),
      ...builtIn.filter((each) => ownNames(each, names).length > 0).map((each) => hideIn(each, names)),
    ],
    warnings: shown.map((name) => ({
      file,
      path: '$.responses.privateAttributes',
      message: `${name} is part of every answer and cannot be private`,
      action: 'shown',
    })),
  };
}

/**
 * Hides the times of rows that a file declares as private attributes. Strapi replaces its attributes of these names, so that neither type
 * nor options of the declaration have an effect there.
 */
export function hideDeclaredTimes(found: readonly SchemaFile[]): CheckedFiles {
  const warnings: SchemaWarning[] = [];
  const files = found.map((source) => {
    const { file, json } = source;
    const attributes = isRecord(json) ? json['attributes'] : undefined;
    if (source.model === 'component' || !isRecord(attributes)) return source;
    const hidden = SYSTEM_TIMES.filter((name) => isRecord(attributes[name]) && attributes[name]['private']);
    if (hidden.length === 0) return source;
    for (const name of hidden) {
      const message = `Strapi shows ${name} here: it takes options.privateAttributes alone`;
      const { path } = schemaProblem(file, ['attributes', name, 'private'], message);
      warnings.push({ file, path, message, action: 'hidden' });
    }
    const others = Object.entries(attributes).filter(([name]) => !hidden.some((each) => each === name));
    return hideIn({ ...source, json: { ...(json as Json), attributes: Object.fromEntries(others) } }, hidden);
  });
  return { files, warnings };
}

function hideIn(source: SchemaFile, names: readonly string[]): SchemaFile {
  const own = ownNames(source, names);
  if (own.length === 0) return source;
  const json = source.json as Json;
  const options = isRecord(json['options']) ? json['options'] : {};
  const before = Array.isArray(options['privateAttributes']) ? options['privateAttributes'] : [];
  const privateAttributes = [...new Set<unknown>([...before, ...own])];
  return { ...source, json: { ...json, options: { ...options, privateAttributes } } };
}

function ownNames({ model, json }: SchemaFile, names: readonly string[]): readonly string[] {
  const attributes = isRecord(json) ? json['attributes'] : undefined;
  if (!isRecord(attributes)) return [];
  const times: readonly string[] = model === 'contentType' ? SYSTEM_TIMES : [];
  return names.filter((name) => Object.hasOwn(attributes, name) || times.includes(name));
}
