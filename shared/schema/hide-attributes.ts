import { isRecord } from '../json-record.ts';
import type { CheckedFiles, SchemaFile } from './build-registry.ts';
import { builtInSchemas } from './built-in-types.ts';
import { uidOfFile } from './name-conflicts.ts';
import { SHOWN_SYSTEM_ATTRIBUTES } from './reserved-names.ts';

type Json = { readonly [key: string]: unknown };

/** Names of attributes that are private in every type, and the file that says so. */
export type HiddenAttributes = { readonly file: string; readonly names: readonly string[] };

/**
 * Makes attributes with these names private in every file, as Strapi does for `responses.privateAttributes` of `config/api`. A built-in
 * type with such an attribute gets a file. The sources change too, so that the log defines what is served.
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
      ...builtIn.filter(({ json }) => ownNames(json, names).length > 0).map((each) => hideIn(each, names)),
    ],
    warnings: shown.map((name) => ({
      file,
      path: '$.responses.privateAttributes',
      message: `${name} is part of every answer and cannot be private`,
      action: 'shown',
    })),
  };
}

function hideIn(source: SchemaFile, names: readonly string[]): SchemaFile {
  const own = ownNames(source.json, names);
  if (own.length === 0) return source;
  const json = source.json as Json;
  const options = isRecord(json['options']) ? json['options'] : {};
  const before = Array.isArray(options['privateAttributes']) ? options['privateAttributes'] : [];
  const privateAttributes = [...new Set<unknown>([...before, ...own])];
  return { ...source, json: { ...json, options: { ...options, privateAttributes } } };
}

function ownNames(json: unknown, names: readonly string[]): readonly string[] {
  const attributes = isRecord(json) ? json['attributes'] : undefined;
  return isRecord(attributes) ? names.filter((name) => Object.hasOwn(attributes, name)) : [];
}
