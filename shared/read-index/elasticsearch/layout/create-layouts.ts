import { z } from 'zod';
import { isRecord } from '../../../json-record.ts';
import type { ContentType, Model, Uid } from '../../../schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../../schema/schema-registry.ts';
import { queryableScalars } from '../../../schema/system-attributes.ts';
import { createLayout } from './create-layout.ts';
import { DEFAULT_DENORMALISE, type DenormaliseSettings, type DocumentLayout } from './document-layout.ts';
import { mappingProblem } from './index-definition.ts';
import { typeSlug } from './index-names.ts';

/** Longest chain of relations that is copied. Filters rarely use longer ones, and each step multiplies the fields. */
const LONGEST_CHAIN = 5;

const settingsSchema = z.strictObject({
  toOne: z.int().min(0).max(LONGEST_CHAIN).optional(),
  toMany: z.int().min(0).max(1).optional(),
  paths: z.array(z.string()).optional(),
});

/**
 * Returns the layouts of all content types. They depend on `pluginOptions.varve.denormalise` of the type. `defaults` applies to settings
 * that it omits. Throws one sentence for each type whose settings or documents are not valid.
 */
export function createLayouts(
  registry: SchemaRegistry,
  defaults: DenormaliseSettings = DEFAULT_DENORMALISE,
): ReadonlyMap<Uid, DocumentLayout> {
  const problems: string[] = [];
  const layouts = new Map<Uid, DocumentLayout>();
  const slugs = new Map<string, Uid>();
  for (const type of registry.contentTypes.values()) {
    const settings = denormaliseSettings(registry, type, defaults, problems);
    const layout = createLayout(registry, type.uid, settings);
    const problem = mappingProblem(layout);
    if (problem !== undefined) problems.push(problem);
    const twin = slugs.get(typeSlug(type.uid));
    if (twin !== undefined) problems.push(`${type.uid} and ${twin}: their indices would have the same name`);
    slugs.set(typeSlug(type.uid), type.uid);
    layouts.set(type.uid, layout);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return layouts;
}

function denormaliseSettings(
  registry: SchemaRegistry,
  type: ContentType,
  defaults: DenormaliseSettings,
  problems: string[],
): DenormaliseSettings {
  const { varve } = type;
  const given = isRecord(varve) && 'denormalise' in varve ? varve['denormalise'] : {};
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      problems.push(`${type.uid}: pluginOptions.varve.${['denormalise', ...path].join('.')}: ${message}`);
    }
    return defaults;
  }
  const { toOne = defaults.toOne, toMany = defaults.toMany, paths = defaults.paths } = parsed.data;
  for (const path of parsed.data.paths ?? []) {
    const wrong = unknownStep(registry, type, path);
    if (wrong === undefined) continue;
    problems.push(
      `${type.uid}: pluginOptions.varve.denormalise.paths: ${path}: ${wrong} is not a public relation, component or column`,
    );
  }
  return { toOne, toMany, paths };
}

function unknownStep(registry: SchemaRegistry, type: ContentType, path: string): string | undefined {
  let model: Model = type;
  const names = path.split('.');
  for (const [at, name] of names.entries()) {
    if (at > 0 && at === names.length - 1 && queryableScalars(model).has(name)) return undefined;
    const attribute = model.attributes.get(name);
    if (attribute === undefined || attribute.private) return name;
    if (attribute.kind === 'relation') model = contentTypeOf(registry, attribute.target);
    else if (attribute.kind === 'component') model = componentOf(registry, attribute.component);
    else return name;
  }
  return undefined;
}
