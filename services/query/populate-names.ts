import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import { type PopulateContext, populatableNames, populatedLink, populatedZone } from './populate-options.ts';
import { invalidKey, type Problems } from './problems.ts';
import {
  lookUp,
  type QueryAttribute,
  type QueryModel,
  type QueryScalar,
  type QueryZone,
  queryModelOf,
} from './query-model.ts';
import { type PopulateNode, WHOLE_ROW } from './selection.ts';

/** Dotted names as a tree: `chef.country,chef.mentor` is chef with the members country and mentor. */
type NameTree = Map<string, NameTree>;

/** Resolves names and dotted paths of `populate`, one or several in each text, into one node per attribute. */
export function resolveNames(
  texts: readonly string[],
  model: QueryModel,
  context: PopulateContext,
): readonly PopulateNode[] {
  return resolveTree(nameTree(texts), model, context, '');
}

/** Refuses commas, blanks and empty names: behind an attribute a text is one path, as in Strapi. */
export function refuseOddNames(
  texts: readonly string[],
  model: QueryModel,
  context: PopulateContext,
  path: string,
): void {
  for (const text of texts) {
    const names = text.split('.');
    const at = names.findIndex((name) => name === '' || name.trim() !== name || name.includes(','));
    if (at !== -1) refuseName(names[at] as string, [path, ...names.slice(0, at)].join('.'), model, context);
  }
}

/** Refuses a name that `populate` does not accept. `path`: position of the name in the message; null: only the name. */
export function refuseName(
  key: string,
  path: string | null,
  model: QueryModel,
  context: PopulateContext,
): void {
  const accepted = [...populatableNames(model, context.scope), '*'];
  context.problems.push(invalidKey(key, path, context.param, accepted));
}

function nameTree(texts: readonly string[]): NameTree {
  const tree: NameTree = new Map();
  for (const name of texts.flatMap((text) => text.split(','))) {
    let level = tree;
    const parts = name.split('.').map((part) => part.trim());
    for (const part of parts.filter((each) => each !== '')) {
      const next: NameTree = level.get(part) ?? new Map();
      level.set(part, next);
      level = next;
    }
  }
  return tree;
}

/** Returns whether no path leads to an attribute, or through it: in Strapi a path ends at a file. */
function endsPath(attribute: QueryAttribute, inner: NameTree): attribute is QueryScalar {
  if (attribute.kind === 'scalar') return true;
  return inner.size > 0 && attribute.kind === 'relation' && attribute.target === FILE_TYPE;
}

function resolveTree(
  tree: NameTree,
  model: QueryModel,
  context: PopulateContext,
  path: string,
): readonly PopulateNode[] {
  const nodes: PopulateNode[] = [];
  for (const [name, inner] of tree) {
    context.budget.left--;
    if (context.budget.left < 0) return nodes;
    const here = path === '' ? name : `${path}.${name}`;
    const attribute = lookUp(model, name, context.scope);
    if (here === 'role' && context.skipRole) continue;
    if (attribute === undefined || attribute === 'hidden' || endsPath(attribute, inner)) {
      refuseName(name, here, model, context);
    } else if (attribute.kind === 'zone') {
      nodes.push(resolveZoneNames(inner, attribute, context, here));
    } else {
      const target = queryModelOf(context.scope.registry, attribute.target);
      const populate = resolveTree(inner, target, context, here);
      nodes.push(populatedLink(attribute, context, { ...WHOLE_ROW, populate }));
    }
  }
  return nodes;
}

/**
 * Names behind a dynamic zone are those of its components; each component populates its own. Refuses a name that no component has, with all
 * that is behind it.
 */
function resolveZoneNames(
  tree: NameTree,
  zone: QueryZone,
  context: PopulateContext,
  path: string,
): PopulateNode {
  const { registry } = context.scope;
  const found = new Map(
    zone.components.map((kind) => [kind, namesBehind(tree, queryModelOf(registry, kind), context, path)]),
  );
  for (const name of tree.keys()) {
    if ([...found.values()].some(({ fitting }) => fitting.has(name))) continue;
    const accepted = zone.components.flatMap((kind) =>
      populatableNames(queryModelOf(registry, kind), context.scope),
    );
    context.problems.push(invalidKey(name, `${path}.${name}`, context.param, [...new Set(accepted)]));
  }
  return populatedZone(zone, (kind) => ({ ...WHOLE_ROW, populate: found.get(kind)?.nodes ?? [] }));
}

/** Names behind a dynamic zone, in one of its components. `fitting`: names that Strapi accepts, with all that is behind them. */
type NamesBehind = { readonly nodes: readonly PopulateNode[]; readonly fitting: ReadonlySet<string> };

function namesBehind(tree: NameTree, model: QueryModel, context: PopulateContext, path: string): NamesBehind {
  const nodes: PopulateNode[] = [];
  const fitting = new Set<string>();
  const populatable = populatableNames(model, context.scope);
  for (const [name, inner] of tree) {
    const problems: Problems = [];
    if (populatable.includes(name))
      nodes.push(...resolveTree(new Map([[name, inner]]), model, { ...context, problems }, path));
    // Strapi takes the name of any attribute at the end of a path, and ignores it.
    const isKnown =
      inner.size === 0
        ? typeof lookUp(model, name, context.scope) === 'object'
        : populatable.includes(name) && problems.length === 0;
    if (isKnown) fitting.add(name);
  }
  return { nodes, fitting };
}
