import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import type { SortKey, World } from '../../shared/read-index/read-index.ts';
import { FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import { booleanOf } from './cast-operand.ts';
import { allOf } from './combine-queries.ts';
import { resolveFields } from './fields.ts';
import { planFilter } from './plan-filter.ts';
import { invalidKey, type Problems } from './problems.ts';
import {
  acceptedNames,
  type QueryLink,
  type QueryModel,
  type QueryScope,
  type QueryZone,
  queryModelOf,
} from './query-model.ts';
import { isQueryObject, type QueryObject, type QueryValue } from './query-string.ts';
import {
  type PopulatedLink,
  type PopulatedZone,
  type PopulateNode,
  type Selection,
  WHOLE_ROW,
} from './selection.ts';
import { resolveSort } from './sort.ts';

export type PopulateRequest = {
  readonly scope: QueryScope;
  readonly param: string;
  readonly problems: Problems;
  readonly world: World;
  /** Applies at every level to rows of types with draft & publish. */
  readonly publication: BoolQuery | null;
  /** Strapi's users dialect: a user's role, which needs a permission, is omitted instead of refused. */
  readonly skipRole?: boolean;
  /** `deep` is a separate form and not a name. */
  readonly deep?: boolean;
  /** Value of the parameter `pLevel`, which replaces `populate`. */
  readonly levels?: QueryValue;
};

export type PopulateContext = PopulateRequest & {
  /** Attributes that the request may still populate. Each component of a dynamic zone populates its own. */
  readonly budget: { left: number };
  /** Position in the object form of `populate`. */
  readonly path: string;
  /** Resolves the inside of a `populate` option (populate.ts; passed in, since the two are recursive). */
  readonly resolveInner: (
    value: QueryValue | undefined,
    model: QueryModel,
    context: PopulateContext,
  ) => readonly PopulateNode[];
};

/** Options of a populated relation, component or fragment. */
export const LINK_OPTIONS = ['fields', 'sort', 'filters', 'populate', 'count'];
const ZONE_OPTIONS = ['on', 'populate', 'count'];

/** Names that `populate` accepts. */
export function populatableNames(model: QueryModel, scope: QueryScope): readonly string[] {
  return acceptedNames(model, scope, ['relation', 'component', 'zone']);
}

/** Returns the node for an attribute. `selection`: the parts of its rows or components to show, by their model. */
export function populated(
  attribute: QueryLink | QueryZone,
  context: PopulateContext,
  selection: (model: Uid) => Selection = () => WHOLE_ROW,
): PopulateNode {
  return attribute.kind === 'zone'
    ? populatedZone(attribute, selection)
    : populatedLink(attribute, context, selection(attribute.target));
}

/** The node for a relation, media attribute or component. */
function populatedLink(attribute: QueryLink, context: PopulateContext, selection: Selection): PopulatedLink {
  const { name, kind, target, toMany } = attribute;
  return {
    kind,
    attribute: name,
    target,
    toMany,
    query: publicationQuery(attribute, context),
    sort: defaultSort(attribute),
    countOnly: false,
    selection,
  };
}

/** Returns the node for a dynamic zone, with components of every kind that it allows. */
function populatedZone(
  zone: QueryZone,
  selection: (kind: Uid) => Selection = () => WHOLE_ROW,
): PopulatedZone {
  const components = new Map(
    zone.components.map((kind) => [kind, { query: MATCH_ALL, selection: selection(kind) }]),
  );
  return { kind: 'zone', attribute: zone.name, components };
}

/** Resolves `populate[relation][fields|sort|filters|populate|count]`. */
export function resolveLinkOptions(
  options: QueryObject,
  attribute: QueryLink,
  parent: QueryModel,
  context: PopulateContext,
): PopulatedLink {
  const target = queryModelOf(context.scope.registry, attribute.target);
  const inner = resolveOptions(options, target, context, () => refuseFragments(attribute, parent, context));
  const { sort, fields, populate } = inner;
  return {
    ...populatedLink(attribute, context, withSortedFields({ fields, populate }, sort)),
    query: allOf([publicationQuery(attribute, context), inner.query]),
    sort: sort.length > 0 ? sort : defaultSort(attribute),
    countOnly: inner.count && isCounted(attribute, target),
  };
}

/** Resolves `populate[zone][on][component]` and `populate[zone][populate]=*`. Strapi ignores `populate[zone][count]`. */
export function resolveZoneOptions(
  value: QueryValue,
  zone: QueryZone,
  parent: QueryModel,
  context: PopulateContext,
): PopulatedZone {
  const options = isQueryObject(value) ? value : {};
  if (value === '*') refuseNested(value, zone, parent, context);
  else if (!isQueryObject(value)) {
    const key = typeof value === 'string' ? value : '';
    refuseKey(key, context, ['true', 'false', ...ZONE_OPTIONS]);
  }
  for (const [name, option] of Object.entries(options)) {
    if (['fields', 'filters', 'sort'].includes(name)) refuseNested(options, zone, parent, context);
    else if (!ZONE_OPTIONS.includes(name) || (name === 'populate' && option !== '*' && option !== null)) {
      refuseKey(name, context, ZONE_OPTIONS);
    }
  }
  resolveCountOnly(options['count'], context);
  if (options['on'] !== undefined && options['on'] !== null)
    return resolveFragments(options['on'], zone, context);
  if (options['populate'] !== '*') return populatedZone(zone);
  return populatedZone(zone, (kind) => {
    const model = queryModelOf(context.scope.registry, kind);
    return { ...WHOLE_ROW, populate: context.resolveInner('*', model, context) };
  });
}

/** Resolves `on`: only the listed components are shown. A content type, or a component that the zone does not allow, has no effect. */
function resolveFragments(on: QueryValue, zone: QueryZone, context: PopulateContext): PopulatedZone {
  const components = new Map<Uid, Fragment>();
  const inside = { ...context, path: `${context.path}.on` };
  if (!isQueryObject(on)) refuseKey('on', inside, zone.components);
  const { components: known, contentTypes } = context.scope.registry;
  for (const [kind, option = null] of Object.entries(isQueryObject(on) ? on : {})) {
    if (known.has(kind)) {
      const part = resolveFragment(kind, option, context);
      if (part !== null && zone.components.includes(kind)) components.set(kind, part);
    } else if (!contentTypes.has(kind)) refuseKey(kind, inside, zone.components);
  }
  return { kind: 'zone', attribute: zone.name, components };
}

type Fragment = { readonly query: BoolQuery; readonly selection: Selection };

function resolveFragment(kind: Uid, option: QueryValue, context: PopulateContext): Fragment | null {
  const model = queryModelOf(context.scope.registry, kind);
  if (isQueryObject(option)) {
    // The author determines the order of a zone. `sort` is checked, as in Strapi, but does not change the order across kinds.
    const { query, fields, populate } = resolveOptions(option, model, context, (name) =>
      refuseOption(name, model, context),
    );
    return { query, selection: { fields, populate } };
  }
  // `false` lists a component too, as in Strapi.
  if (option === '*' || booleanOf(option) !== undefined) return { query: MATCH_ALL, selection: WHOLE_ROW };
  const name = typeof option === 'string' ? option : '';
  refuseKey(name, context, ['true', 'false', ...LINK_OPTIONS]);
  return null;
}

type Options = Selection & {
  readonly sort: readonly SortKey[];
  readonly query: BoolQuery;
  readonly count: boolean;
};

const NO_OPTIONS: Options = { sort: [], query: MATCH_ALL, fields: null, populate: [], count: false };

/** Resolves the options of populated rows or components in the order of the request, as Strapi does. */
function resolveOptions(
  options: QueryObject,
  model: QueryModel,
  context: PopulateContext,
  refuseOn: (name: 'on') => void,
): Options {
  const found: { -readonly [name in keyof Options]: Options[name] } = { ...NO_OPTIONS };
  for (const [name, value] of Object.entries(options)) {
    switch (name) {
      case 'sort':
        found.sort = resolveSort(value, model, { ...context, throughRelations: false });
        break;
      case 'filters':
        // Strapi treats an empty text here as no filter, unlike at the root.
        found.query = planFilter(value || null, `${context.param}[…][filters]`, model, context);
        break;
      case 'fields':
        found.fields = resolveFields(value, model, context);
        break;
      case 'populate':
        found.populate = context.resolveInner(value, model, context);
        break;
      case 'count':
        found.count = resolveCountOnly(value, context);
        break;
      case 'on':
        refuseOn(name);
        break;
      default:
        refuseOption(name, model, context);
    }
  }
  return found;
}

function refuseOption(name: string, model: QueryModel, context: PopulateContext): void {
  const known = model.attributes.has(name) || model.hidden.has(name);
  refuseKey(name, known ? { ...context, path: `${context.path}.${name}` } : context, LINK_OPTIONS);
}

function refuseKey(
  key: string,
  { problems, path, param }: PopulateContext,
  accepted: readonly string[],
): void {
  problems.push(invalidKey(key, path, param, accepted));
}

/** Adds the sort fields, which Strapi shows even if they are not requested. */
function withSortedFields(selection: Selection, sort: readonly SortKey[]): Selection {
  if (selection.fields === null || sort.length === 0) return selection;
  const sorted = sort.flatMap((key) => ('nearest' in key ? [] : key.field));
  return { ...selection, fields: new Set([...selection.fields, ...sorted]) };
}

function publicationQuery(attribute: QueryLink, context: PopulateContext): BoolQuery {
  if (context.publication === null || attribute.kind !== 'relation') return MATCH_ALL;
  const target = context.scope.registry.contentTypes.get(attribute.target);
  return target?.draftAndPublish ? context.publication : MATCH_ALL;
}

/** Returns the default sort. Other locales are in alphabetical order, because their links have no order. */
function defaultSort(attribute: QueryLink): readonly SortKey[] {
  return attribute.name === 'localizations' ? [{ path: [], field: 'locale', direction: 'asc' }] : [];
}

/** Returns whether `count` applies. Files and other locales are shown instead of counted, as in Strapi. */
function isCounted({ name }: QueryLink, { uid }: QueryModel): boolean {
  return uid !== FILE_TYPE && name !== 'localizations';
}

function resolveCountOnly(value: QueryValue | undefined, context: PopulateContext): boolean {
  if (value === undefined) return false;
  const flag = booleanOf(value);
  if (flag !== undefined) return flag;
  refuseKey('count', context, ['true', 'false']);
  return false;
}

function refuseFragments(attribute: QueryLink, parent: QueryModel, context: PopulateContext): void {
  context.problems.push({
    phase: 'form',
    message: `Using fragments is not permitted to populate "${attribute.name}" in "${parent.uid}"`,
    param: context.param,
    found: 'on',
    accepted: LINK_OPTIONS,
  });
}

function refuseNested(
  found: QueryValue,
  zone: QueryZone,
  parent: QueryModel,
  context: PopulateContext,
): void {
  context.problems.push({
    phase: 'form',
    message: `Invalid nested populate for ${parent.singularName}.${zone.name} (${parent.uid}). Expected a fragment ("on") or "count" but found ${JSON.stringify(found)}`,
    param: context.param,
    found,
    accepted: ZONE_OPTIONS,
  });
}
