import type { Uid } from '../../shared/schema/content-type.ts';
import { type PopulateContext, populatableNames, populated } from './populate-options.ts';
import { type QueryLink, type QueryModel, type QueryZone, queryModelOf } from './query-model.ts';
import { isQueryList, type QueryValue } from './query-string.ts';
import { type PopulateNode, WHOLE_ROW } from './selection.ts';

const DEFAULT_LEVELS = 5;
const MAX_LEVELS = 10;
/** Maximum number of attributes that one request may populate in this way, because a tree of types grows with every level. */
const MAX_NODES = 1_000;

type Deep = {
  readonly context: PopulateContext;
  /** Attributes that may still be populated. */
  left: number;
};

/**
 * Returns the levels of `deep`, `deep:N` or `deep,N`, or of a list such as `populate[0]=deep&populate[1]=N`, which the plugin reads from
 * both forms; undefined for other values.
 */
export function deepLevels(value: QueryValue | undefined): number | undefined {
  const texts = isQueryList(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  const [, levels] = /^deep(?:[:,](\d{1,3}))?$/.exec(texts.join()) ?? [undefined, null];
  if (levels === null) return undefined;
  return levels === undefined ? DEFAULT_LEVELS : Number(levels);
}

/** Returns the levels of the parameter `pLevel`. Plugins of Strapi take a value that is not a number as the default. */
export function parameterLevels(value: QueryValue): number {
  return typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : DEFAULT_LEVELS;
}

/**
 * Populates every attribute to a number of levels. Populates nothing below a relation to a type that is on the way from the root, so it
 * never follows a cycle. If that would be too much, populates fewer levels. In Strapi this is a plugin.
 */
export function populateDeep(
  levels: number,
  model: QueryModel,
  context: PopulateContext,
): readonly PopulateNode[] {
  const most = Math.min(levels, MAX_LEVELS);
  const deep: Deep = { context, left: MAX_NODES };
  const nodes = populateLevels(most, model, deep, [model.uid]);
  return deep.left < 0 && most > 1 ? populateDeep(most - 1, model, context) : nodes;
}

function populateLevels(
  levels: number,
  model: QueryModel,
  deep: Deep,
  way: readonly Uid[],
): readonly PopulateNode[] {
  if (levels === 0) return [];
  const { context } = deep;
  return populatableNames(model, context.scope).flatMap((name): readonly PopulateNode[] => {
    const attribute = model.attributes.get(name) as QueryLink | QueryZone;
    deep.left--;
    if (deep.left < 0) return [];
    if (attribute.kind === 'relation' && way.includes(attribute.target))
      return [populated(attribute, context)];
    const below = (target: Uid) => {
      const inner = queryModelOf(context.scope.registry, target);
      return { ...WHOLE_ROW, populate: populateLevels(levels - 1, inner, deep, [...way, target]) };
    };
    return [populated(attribute, context, below)];
  });
}
