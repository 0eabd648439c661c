import { isRecord } from '../json-record.ts';
import { valueAt } from '../map-values.ts';
import { buildRegistry, type ParsedFiles, type SchemaFile } from './build-registry.ts';
import type { ScalarType } from './content-type.ts';
import { CUSTOM_FIELD_TYPES, namedType, withAnyText } from './custom-fields.ts';
import { pairRelations } from './pair-relations.ts';
import { type SchemaProblem, type SchemaWarning, schemaProblem } from './schema-problem.ts';
import { withMilliseconds } from './time-form.ts';

export type CustomFields = { readonly [customField: string]: ScalarType };

export type RepairedSchemas = ParsedFiles & { readonly warnings: readonly SchemaWarning[] };

type Json = { [key: string]: unknown };

/** Members that an attribute may lack. */
const OPTIONAL_MEMBERS: ReadonlySet<PropertyKey> = new Set([
  ...['pluginOptions', 'default', 'min', 'max', 'minLength', 'maxLength', 'regex', 'targetField'],
  ...['allowedTypes', 'inversedBy', 'mappedBy', 'conditions'],
]);

/** Members that Strapi treats as true if they are truthy. Without `private`, hidden values would become visible. */
const FLAGS: ReadonlySet<PropertyKey> = new Set([
  ...['required', 'unique', 'private', 'configurable', 'searchable', 'multiple', 'repeatable'],
]);

/** Matches members of a file that are optional, and everything below them. */
const OPTIONAL_OF_FILE = /^(collectionName|options|pluginOptions|info\.(displayName|description))(\.|$)/;

/**
 * Makes a registry of schema files that Strapi accepts. Omits an attribute that cannot be served, and drops an option that does not fit;
 * each is a warning. Problems of a whole file, and two types with the same name, remain problems. The sources are the repaired files, so
 * that the log defines what is served.
 */
export function repairSchemas(
  files: readonly SchemaFile[],
  customFields: CustomFields = {},
  timeMilliseconds = false,
): RepairedSchemas {
  const repaired = files.map((file) => ({ ...file, json: structuredClone(file.json) }));
  const warnings = [
    ...resolveCustomFields(repaired, { ...CUSTOM_FIELD_TYPES, ...customFields }),
    ...pairRelations(repaired),
  ];
  if (timeMilliseconds) for (const file of repaired) showMilliseconds(file);
  for (;;) {
    const parsed = buildRegistry(repaired);
    const found = parsed.problems.flatMap((problem) => repair(repaired, problem) ?? []);
    if (found.length === 0) return { ...parsed, warnings };
    warnings.push(...found);
  }
}

/** Repairs a problem. Returns a warning about the change; undefined if the problem cannot be repaired, or another repair has removed it. */
function repair(files: readonly SchemaFile[], problem: SchemaProblem): SchemaWarning | undefined {
  const json = files.find(({ file }) => file === problem.file)?.json as Json | undefined;
  if (json === undefined) return undefined;
  const { segments } = problem;
  const [first, name, member, at] = segments;
  if (first !== 'attributes') return repairFile(json, problem);
  const attributes = json['attributes'] as Json | undefined;
  const attribute = attributes?.[String(name)] as Json | undefined;
  if (attributes === undefined || attribute === undefined) return undefined;
  if (member !== undefined && FLAGS.has(member)) {
    const flag = Boolean(attribute[String(member)]);
    attribute[String(member)] = flag;
    return warning(problem, `taken as ${flag}`);
  }
  if (member !== undefined && OPTIONAL_MEMBERS.has(member)) {
    if (!(String(member) in attribute)) return undefined;
    delete attribute[String(member)];
    return warning(problem, `served without \`${String(member)}\``);
  }
  const list = attribute[String(member)];
  if (Array.isArray(list) && typeof at === 'number' && list.length > 1 && at < list.length) {
    // The indices of later items change, so the next round finds their problems again.
    attribute[String(member)] = list.filter((_, n) => n !== at);
    return warning(problem, `served without \`${JSON.stringify(list[at])}\``);
  }
  delete attributes[String(name)];
  return warning(problem, 'left out');
}

function repairFile(json: Json, problem: SchemaProblem): SchemaWarning | undefined {
  const path = problem.segments.map(String);
  if (!OPTIONAL_OF_FILE.test(path.join('.'))) return undefined;
  const key = path.pop() ?? '';
  const owner = path.reduce<unknown>((at, name) => (at as Json | undefined)?.[name], json);
  if (Array.isArray(owner)) {
    // The indices of later items change, so the next round finds their problems again.
    if (Number(key) >= owner.length) return undefined;
    owner.splice(Number(key), 1);
  } else if (typeof owner === 'object' && owner !== null && key in owner) delete (owner as Json)[key];
  else return undefined;
  return warning(problem, 'this option is dropped');
}

function warning({ file, path, message }: SchemaProblem, action: string): SchemaWarning {
  return { file, path, message, action };
}

/** Sets the stored type of custom fields. Returns one warning for each field whose type is unknown. */
function resolveCustomFields(files: readonly SchemaFile[], types: CustomFields): SchemaWarning[] {
  const unknown = new Map<string, SchemaWarning & { count: number }>();
  for (const source of files) {
    const attributes = (source.json as { attributes?: unknown } | null)?.attributes;
    if (!isRecord(attributes)) continue;
    for (const [name, raw] of Object.entries(attributes)) {
      const field = resolveCustomField(raw, types);
      if (field === undefined) continue;
      const { path } = schemaProblem(source.file, ['attributes', name, 'customField'], '');
      const message = `the stored type of the custom field ${JSON.stringify(field)} is unknown`;
      const action = `served as json or text; set the type with --custom-field ${field}=<type>`;
      valueAt(unknown, field, () => ({ file: source.file, path, message, action, count: 0 })).count++;
    }
  }
  return [...unknown.values()].map(({ count, message, ...rest }) => ({
    ...rest,
    message: count === 1 ? message : `${message}, in ${count} attributes`,
  }));
}

/** Gives all times three digits of a second. */
function showMilliseconds({ json }: SchemaFile): void {
  const attributes = (json as { attributes?: unknown } | null)?.attributes;
  if (!isRecord(attributes)) return;
  for (const attribute of Object.values(attributes) as (Json | null)[])
    if (attribute?.['type'] === 'time')
      attribute['pluginOptions'] = withMilliseconds(attribute['pluginOptions']);
}

/**
 * Sets the stored type of an attribute that is a custom field. Code of a plugin defines the field. So its type is well known, set by the
 * schema or a setting, or else JSON that may be any text. Returns the field's name in the last case.
 */
function resolveCustomField(raw: unknown, types: CustomFields): string | undefined {
  const attribute = raw as Json | null;
  if (attribute?.['type'] !== 'customField') return undefined;
  const field = String(attribute['customField']);
  const known = namedType(attribute['pluginOptions']) ?? types[field];
  attribute['type'] = known ?? 'json';
  if (known !== undefined) return undefined;
  attribute['pluginOptions'] = withAnyText(attribute['pluginOptions']);
  return field;
}
