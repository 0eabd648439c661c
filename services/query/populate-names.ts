import { FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import { type PopulateContext, populatableNames, populated } from './populate-options.ts';
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
  return resolveTree(nameTree(texts), model, { ...context, path: '' });
}

/**
 * Refuses commas, blanks and empty names in the `populate` of an attribute. As in Strapi, each of its texts is one path. Only the root
 * accepts lists with commas.
 */
export function refuseOddNames(texts: readonly string[], model: QueryModel, context: PopulateContext): void {
  for (const text of texts) {
    const names = text.split('.');
    const at = names.findIndex((name) => name === '' || name.trim() !== name || name.includes(','));
    if (at === -1) continue;
    refuseName(names[at] as string, [context.path, ...names.slice(0, at)].join('.'), model, context);
  }
}

/** Refuses a name that `populate` does not accept. `path`: position of the name in the message; empty: only the name. */
export function refuseName(key: string, path: string, model: QueryModel, context: PopulateContext): void {
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

function resolveTree(tree: NameTree, model: QueryModel, context: PopulateContext): readonly PopulateNode[] {
  const { path } = context;
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
      nodes.push(resolveZoneNames(inner, attribute, { ...context, path: here }));
    } else {
      const populate = (target: Uid) =>
        resolveTree(inner, queryModelOf(context.scope.registry, target), { ...context, path: here });
      nodes.push(populated(attribute, context, (target) => ({ ...WHOLE_ROW, populate: populate(target) })));
    }
  }
  return nodes;
}

/**
 * Resolves names behind a dynamic zone. Each component populates those that it has. Refuses a name, unless one of the components has it and
 * all names behind it.
 */
function resolveZoneNames(tree: NameTree, zone: QueryZone, context: PopulateContext): PopulateNode {
  const { scope, param, path, problems } = context;
  /** Names that Strapi accepts in one of the components, with all that is behind them. */
  const fitting = new Set<string>();
  const node = populated(zone, context, (kind) => {
    const model = queryModelOf(scope.registry, kind);
    const populatable = populatableNames(model, scope);
    const populate = [...tree].flatMap(([name, inner]) => {
      const refused: Problems = [];
      const isPopulatable = populatable.includes(name);
      const alone = new Map(isPopulatable ? [[name, inner]] : []);
      const nodes = resolveTree(alone, model, { ...context, problems: refused });
      // Strapi takes the name of any attribute at the end of a path, and ignores it.
      const isKnown =
        inner.size === 0
          ? typeof lookUp(model, name, scope) === 'object'
          : isPopulatable && refused.length === 0;
      if (isKnown) fitting.add(name);
      return nodes;
    });
    return { ...WHOLE_ROW, populate };
  });
  for (const name of tree.keys()) {
    if (fitting.has(name)) continue;
    const accepted = zone.components.flatMap((kind) =>
      populatableNames(queryModelOf(scope.registry, kind), scope),
    );
    problems.push(invalidKey(name, `${path}.${name}`, param, [...new Set(accepted)]));
  }
  return node;
}
