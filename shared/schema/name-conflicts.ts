import type { CheckedFiles, SchemaFile } from './build-registry.ts';
import { BUILT_IN_TYPES, isBuiltInType } from './built-in-types.ts';
import type { Uid } from './content-type.ts';
import { routeNameProblem } from './reserved-names.ts';
import type { SchemaWarning } from './schema-problem.ts';

type Info = { readonly singularName?: unknown; readonly pluralName?: unknown };

/**
 * Omits types of plugins whose names a type of the project has. Strapi serves them under paths of the plugin, but Varve serves all types
 * under one path.
 */
export function withoutNameConflicts(found: readonly SchemaFile[]): CheckedFiles {
  const taken = new Set(
    [...BUILT_IN_TYPES, ...found.filter((file) => !isOfPlugin(file)).map(infoOf)].flatMap(namesOf),
  );
  const warnings: SchemaWarning[] = [];
  const files = found.filter((file) => {
    if (!isOfPlugin(file)) return true;
    const names = namesOf(infoOf(file));
    const name = names.find((one) => taken.has(one) || routeNameProblem(one) !== undefined);
    for (const one of names) taken.add(one);
    if (name === undefined) return true;
    const message = `the name ${name} of a plugin's type is used by another type`;
    warnings.push({ file: file.file, path: '$.info', message, action: 'left out' });
    return false;
  });
  return { files, warnings };
}

function isOfPlugin(file: SchemaFile): boolean {
  return file.model === 'contentType' && file.namespace.startsWith('plugin::') && !isExtension(file);
}

/** Returns whether a file extends a built-in type, which it replaces. */
function isExtension(file: SchemaFile & { readonly model: 'contentType' }): boolean {
  return isBuiltInType(uidOfFile(file));
}

/** Returns the uid of a content type by its file, which need not be valid. */
export function uidOfFile(file: SchemaFile & { readonly model: 'contentType' }): Uid {
  return `${file.namespace}.${String(infoOf(file).singularName)}`;
}

function infoOf({ json }: SchemaFile): Info {
  return (json as { readonly info?: Info } | null)?.info ?? {};
}

function namesOf({ singularName, pluralName }: Info): string[] {
  return [singularName, pluralName].flatMap((name) => (typeof name === 'string' ? [name.toLowerCase()] : []));
}
