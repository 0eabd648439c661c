import type { Attribute, ContentType, Model, ScalarAttribute } from './content-type.ts';
import { usesOf } from './scalar-uses.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import type { SchemaRegistry } from './schema-registry.ts';
import { searchOptionsOf } from './search-options.ts';

/** Returns the paths that a type names in `pluginOptions.varve.search.through`. */
export function throughPaths(type: Pick<ContentType, 'varve'>): readonly string[] {
  return [...new Set(searchOptionsOf(type)?.through ?? [])];
}

/** Reports paths that do not lead to a text. */
export function checkThrough(type: ContentType, registry: SchemaRegistry, report: ReportProblem): void {
  const reportHere = below(report, 'pluginOptions', 'varve', 'search', 'through');
  for (const [at, path] of throughPaths(type).entries()) {
    if (throughAttribute(registry, type, path) === undefined)
      reportHere([at], `${path} is not a public text behind public relations and components`);
  }
}

/** Returns the text attribute at the end of a path. Returns undefined if there is none, or if a part of the path is private. */
export function throughAttribute(
  registry: SchemaRegistry,
  type: ContentType,
  path: string,
): ScalarAttribute | undefined {
  let model: Model | undefined = type;
  const names = path.split('.');
  for (const [at, name] of names.entries()) {
    const attribute: Attribute | undefined = model?.attributes.get(name);
    if (attribute === undefined || attribute.private) return undefined;
    if (at === names.length - 1)
      return attribute.kind === 'scalar' && usesOf(attribute.type).searchWeight !== null
        ? attribute
        : undefined;
    model = modelBehind(registry, attribute);
  }
  return undefined;
}

function modelBehind(registry: SchemaRegistry, attribute: Attribute): Model | undefined {
  if (attribute.kind === 'relation') return registry.contentTypes.get(attribute.target);
  return attribute.kind === 'component' ? registry.components.get(attribute.component) : undefined;
}
