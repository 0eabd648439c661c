import fc from 'fast-check';
import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import { columnValue, fieldTypeOf } from '../../shared/read-index/column.ts';
import { isCountable } from '../../shared/read-index/facet-values.ts';
import type { FacetRequest } from '../../shared/read-index/facets.ts';
import { foldText } from '../../shared/read-index/fold-text.ts';
import type { ColumnKey, SearchRequest, TraverseRequest } from '../../shared/read-index/read-index.ts';
import type { Model, Uid } from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { componentKinds, oneOf, ownTypes, rawValues, scalarsOf, world } from './brute-force-values.ts';

/** Random searches and traversals over the types of a registry. */

/** Generates comparisons of one field. */
function comparisons(model: Model): fc.Arbitrary<BoolQuery> {
  const fields = scalarsOf(model).map(({ name, type }) => {
    const value = oneOf(rawValues(type).map((raw) => columnValue(type, raw) as Scalar));
    const text = oneOf([
      '',
      'a',
      'B',
      'b',
      '0',
      '1',
      '.',
      'é',
      'É',
      '-',
      ':',
      '"a"',
      'x'.repeat(5),
      '2000',
      'true',
      'σ',
      '\u{1F600}',
    ]);
    const match = fc.constantFrom('equals', 'contains', 'prefix', 'suffix');
    const bound = fc.option(value, { nil: undefined });
    return fc.oneof(
      value.map((v): BoolQuery => ({ kind: 'term', field: name, value: v })),
      fc.array(value, { maxLength: 6 }).map((values): BoolQuery => ({ kind: 'terms', field: name, values })),
      fc.record({ gt: bound, gte: bound, lt: bound, lte: bound }).map((bounds): BoolQuery => {
        const given = Object.fromEntries(Object.entries(bounds).filter(([, v]) => v !== undefined));
        return { kind: 'range', field: name, ...given };
      }),
      fc.constant<BoolQuery>({ kind: 'exists', field: name }),
      fc.record({ match, text, fold: fc.boolean() }).map(
        ({ match: how, text: t, fold }): BoolQuery => ({
          kind: 'text',
          match: how,
          field: name,
          value: fold ? foldText(t) : t,
          fold,
        }),
      ),
    );
  });
  return fc.oneof(...fields);
}

const queryCache = new WeakMap<Model, fc.Arbitrary<BoolQuery>[]>();

function queries(registry: SchemaRegistry, model: Model, depth: number): fc.Arbitrary<BoolQuery> {
  const known = queryCache.get(model) ?? [];
  queryCache.set(model, known);
  known[depth] ??= newQueries(registry, model, depth);
  return known[depth];
}

function newQueries(registry: SchemaRegistry, model: Model, depth: number): fc.Arbitrary<BoolQuery> {
  const all = fc.constantFrom<BoolQuery>(
    { kind: 'match_all' },
    { kind: 'match_all' },
    { kind: 'match_none' },
  );
  const leaf = { weight: 4, arbitrary: comparisons(model) };
  if (depth === 0) return fc.oneof(leaf, { weight: 1, arbitrary: all });
  const inner = queries(registry, model, depth - 1);
  const parts = fc.option(fc.array(inner, { maxLength: 3 }), { nil: undefined, freq: 1 });
  const options = fc.option(fc.array(inner, { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 1 });
  const bool = fc
    .record({ filter: parts, should: fc.oneof({ weight: 9, arbitrary: options }, parts), must_not: parts })
    .map((given): BoolQuery => {
      const present = Object.fromEntries(Object.entries(given).filter(([, list]) => list !== undefined));
      return { kind: 'bool', ...present };
    });
  const steps = queryableSteps(registry, model).map(({ attribute, target, zoneComponent }) =>
    queries(registry, target, depth - 1).map((query): BoolQuery => {
      if (zoneComponent === undefined) return { kind: 'some', attribute, query };
      return { kind: 'some_in_zone', attribute, component: zoneComponent, query };
    }),
  );
  const some = steps.length === 0 ? [] : [{ weight: 4, arbitrary: fc.oneof(...steps) }];
  return fc.oneof(leaf, { weight: 1, arbitrary: all }, { weight: 4, arbitrary: bool }, ...some);
}

type QueryableStep = { readonly attribute: string; readonly target: Model; readonly zoneComponent?: Uid };

function queryableSteps(registry: SchemaRegistry, model: Model): QueryableStep[] {
  const own = [...model.attributes.values()].flatMap((attribute): QueryableStep[] => {
    const { name } = attribute;
    if (attribute.kind === 'relation')
      return [{ attribute: name, target: contentTypeOf(registry, attribute.target) }];
    return componentKinds(attribute).map((uid) => {
      const target = componentOf(registry, uid);
      return attribute.kind === 'dynamiczone'
        ? { attribute: name, target, zoneComponent: uid }
        : { attribute: name, target };
    });
  });
  const localized = 'kind' in model && model.localized;
  return localized ? [...own, { attribute: 'localizations', target: model }] : own;
}

function sortKeys(registry: SchemaRegistry, model: Model, depth: number): fc.Arbitrary<ColumnKey> {
  const direction = fc.constantFrom('asc', 'desc');
  const fields = scalarsOf(model)
    .filter(({ type }) => fieldTypeOf(type) !== 'json')
    .map(({ name }) => name);
  const own = fc
    .tuple(oneOf('kind' in model ? [...fields, '$publication'] : fields), direction)
    .map(([field, d]): ColumnKey => ({ path: [], field, direction: d }));
  const steps = queryableSteps(registry, model).filter((step) => step.zoneComponent === undefined);
  if (depth === 0 || steps.length === 0) return own;
  const through = oneOf(steps).chain(({ attribute, target }) =>
    sortKeys(registry, target, depth - 1).map((key) => ({ ...key, path: [attribute, ...key.path] })),
  );
  return fc.oneof(own, through);
}

function searchOf(registry: SchemaRegistry, type: Uid): fc.Arbitrary<SearchRequest> {
  const model = contentTypeOf(registry, type);
  return fc.record({
    type: fc.constant(type),
    world,
    query: fc.oneof(
      { weight: 4, arbitrary: queries(registry, model, 3) },
      fc.constant<BoolQuery>({ kind: 'match_all' }),
    ),
    sort: fc.array(sortKeys(registry, model, 2), { maxLength: 2 }),
    from: fc.constantFrom(0, 0, 1, 3),
    size: fc.constantFrom(0, 1, 2, 25, Number.POSITIVE_INFINITY),
    withTotal: fc.boolean(),
  });
}

const MOST_STEPS = 8;

/** Generates facets of a type, through relations and components. */
function facetsOf(registry: SchemaRegistry, model: Model, depth = MOST_STEPS): fc.Arbitrary<FacetRequest> {
  const own = oneOf(scalarsOf(model).filter(({ type }) => isCountable(type))).chain(({ name, type }) => {
    const isOrdered = ['number', 'instant'].includes(fieldTypeOf(type));
    const bound = oneOf(rawValues(type).map((raw) => Number(columnValue(type, raw))));
    const range = fc
      .record({ name: fc.uuid() }, { requiredKeys: ['name'] })
      .chain((named) =>
        fc
          .record({ from: bound, to: bound }, { requiredKeys: [] })
          .map((bounds) => ({ ...named, ...bounds })),
      );
    const whole = {
      path: fc.constant([]),
      field: fc.constant(name),
      type: fc.constant(type),
      limit: oneOf([1, 2, 100]),
    };
    const values = fc.record(
      { ...whole, search: oneOf(['a', 'e', '1', 'x', '20']) },
      { requiredKeys: ['path', 'field', 'type', 'limit'] },
    );
    if (!isOrdered) return values;
    return fc.oneof(values, fc.record({ ...whole, ranges: fc.array(range, { minLength: 1, maxLength: 3 }) }));
  });
  const steps = queryableSteps(registry, model).filter(
    ({ attribute, zoneComponent }) => zoneComponent === undefined && attribute !== 'localizations',
  );
  if (depth === 0 || steps.length === 0) return own;
  const through = oneOf(steps).chain(({ attribute, target }) =>
    facetsOf(registry, target, depth - 1).map((facet) => ({ ...facet, path: [attribute, ...facet.path] })),
  );
  return fc.oneof(own, { weight: 2, arbitrary: through });
}

/** Generates searches with a number of facets each. */
export function facetSearches(registry: SchemaRegistry, facets: number): fc.Arbitrary<SearchRequest> {
  return oneOf(ownTypes(registry)).chain((type) =>
    fc
      .tuple(
        searchOf(registry, type.uid),
        fc.array(facetsOf(registry, type), { minLength: facets, maxLength: facets }),
      )
      .map(([request, asked]) => ({ ...request, facets: asked })),
  );
}

export function searchRequests(registry: SchemaRegistry): fc.Arbitrary<SearchRequest> {
  return oneOf(ownTypes(registry)).chain(({ uid }) => searchOf(registry, uid));
}

/** A traversal whose parents are the hits of a search. */
export type TraversalPlan = {
  readonly parents: SearchRequest;
  readonly inZone: boolean;
  readonly request: Omit<TraverseRequest, 'parents'>;
};

export function traversalPlans(registry: SchemaRegistry): fc.Arbitrary<TraversalPlan> {
  const all = ownTypes(registry).flatMap((type) =>
    queryableSteps(registry, type).map((step) => ({ type: type.uid, ...step })),
  );
  return oneOf(all).chain(({ type, attribute, target, zoneComponent }) => {
    const inZone = zoneComponent !== undefined;
    const refine = inZone
      ? fc.constant({})
      : fc.record(
          {
            query: queries(registry, target, 2),
            sort: fc.array(sortKeys(registry, target, 1), { maxLength: 2 }),
          },
          { requiredKeys: [] },
        );
    const limit = fc.constantFrom(0, 1, 3, 1000);
    return fc
      .tuple(searchOf(registry, type), refine, limit, fc.boolean())
      .map(([parents, refined, most, countOnly]): TraversalPlan => {
        const rowSet = { type, path: [] };
        const request = { rowSet, world: parents.world, attribute, limit: most, countOnly, ...refined };
        return { parents: { ...parents, query: { kind: 'match_all' } }, inZone, request };
      });
  });
}
