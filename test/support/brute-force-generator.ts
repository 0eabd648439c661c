import fc from 'fast-check';
import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import { columnValue, fieldTypeOf } from '../../shared/read-index/column.ts';
import { foldText } from '../../shared/read-index/fold-text.ts';
import type {
  ChangeBatch,
  FollowRequest,
  IndexedComponent,
  IndexedRow,
  LinkChange,
  RowChange,
  RowSpace,
  RowVersion,
  SearchRequest,
  SortKey,
  World,
} from '../../shared/read-index/read-index.ts';
import type { Attribute, Model, ScalarType, Uid } from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

/** Random histories of a read index and random questions to it, over the types of a registry. Values and keys are few, so they meet. */

const KEYS = 5;
const TEXTS = ['', 'ab', 'Ab c', 'É', 'Σς', '\u{1F600}', '\uFFFD', 'x'.repeat(300)];
const STATES = ['never-published', 'modified', 'published'];

/** Values of an attribute as they stand in answers. */
function rawValues(type: ScalarType): readonly unknown[] {
  const fieldType = fieldTypeOf(type);
  if (fieldType === 'keyword') return TEXTS;
  if (fieldType === 'long') return ['0', '-1', '9007199254740992', '9007199254740993', '9223372036854775807'];
  if (fieldType === 'boolean') return [true, false];
  if (fieldType === 'time-of-day') return ['00:00:00', '08:30:00.500', '23:59:59'];
  if (type === 'date') return ['1999-12-31', '2000-01-01', '1969-07-20'];
  if (fieldType === 'instant') return ['2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00.250Z'];
  if (fieldType === 'json') return [{ a: 1 }, { a: 1, b: 'B' }, [], 'text'];
  return type === 'integer' ? [0, 1, 2, 10, -3] : [0, 0.5, 1, 10.25, -3];
}

const scalarsOf = (model: Model) => [...queryableScalars(model).values()].filter(({ name }) => name !== 'id');
const ownTypes = (registry: SchemaRegistry) => [...registry.contentTypes.values()].filter((t) => !t.builtIn);
const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const world: fc.Arbitrary<World> = fc.constantFrom('draft', 'published');

/** Fields other than the id, each NULL one time in four. */
function fieldsOf(model: Model): fc.Arbitrary<{ [field: string]: Scalar | null }> {
  const fields = Object.fromEntries(
    scalarsOf(model).map(({ name, type }) => {
      const value = oneOf(rawValues(type)).map((raw) => columnValue(type, raw));
      return [name, fc.option(value, { freq: 4 })];
    }),
  );
  const state = fc.option(fc.constantFrom<Scalar>(...STATES));
  return 'kind' in model ? fc.record({ ...fields, $publication: state }) : fc.record(fields);
}

/** Components of a row or component, with keys made from their holder's: `10 * holder + place`. */
function componentsOf(
  registry: SchemaRegistry,
  model: Model,
): fc.Arbitrary<(holder: number) => IndexedRow['components']> {
  const attributes = [...model.attributes.values()].flatMap((attribute) => {
    const kinds = componentKinds(attribute);
    if (kinds.length === 0) return [];
    const list = fc.array(
      oneOf(kinds).chain((uid) => componentIn(registry, uid)),
      {
        maxLength: attribute.kind === 'component' && !attribute.repeatable ? 1 : 3,
      },
    );
    return [[attribute.name, list] as const];
  });
  return fc.record(Object.fromEntries(attributes)).map((lists) => (holder) => {
    const built = Object.entries(lists).map(([name, makers]) => [
      name,
      makers.map((make, place) => make(holder * 10 + place + 1)),
    ]);
    return Object.fromEntries(built);
  });
}

function componentIn(registry: SchemaRegistry, uid: Uid): fc.Arbitrary<(key: number) => IndexedComponent> {
  const model = componentOf(registry, uid);
  return fc.tuple(fieldsOf(model), componentsOf(registry, model)).map(([fields, below]) => (key) => ({
    component: uid,
    key,
    source: sourceOf({ component: uid, key }),
    fields: { ...fields, id: key },
    components: below(key),
  }));
}

function componentKinds(attribute: Attribute): readonly Uid[] {
  if (attribute.kind === 'component') return [attribute.component];
  return attribute.kind === 'dynamiczone' ? attribute.components : [];
}

function sourceOf(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

type RowPlan = Omit<RowChange, 'row'> & { readonly row: ((id: number) => IndexedRow) | null };

function rowPlans(registry: SchemaRegistry): fc.Arbitrary<RowPlan> {
  const perType = ownTypes(registry).map((type) => {
    const versions: RowVersion[] = type.draftAndPublish ? ['draft', 'published'] : ['live'];
    const content = fc.tuple(fieldsOf(type), componentsOf(registry, type));
    return fc
      .tuple(oneOf(versions), fc.integer({ min: 1, max: KEYS }), fc.option(content, { freq: 5 }), fc.nat())
      .map(([version, key, row, mark]): RowPlan => {
        if (row === null) return { type: type.uid, version, key, row };
        const [fields, below] = row;
        const build = (id: number): IndexedRow => ({
          source: sourceOf({ type: type.uid, version, key, id, mark }),
          fields: { ...fields, id },
          components: below(key),
        });
        return { type: type.uid, version, key, row: build };
      });
  });
  return fc.oneof(...perType);
}

/** Every owning relation, with the keys its sources have. */
function linkChanges(registry: SchemaRegistry): fc.Arbitrary<LinkChange> {
  const relations = rowSpaces(registry).flatMap(({ space, model, maxKey }) =>
    [...model.attributes.values()]
      .filter((attribute) => attribute.kind === 'relation' && attribute.mappedBy === undefined)
      .map(({ name }) => ({ space, attribute: name, maxKey })),
  );
  const localizations = {
    space: { type: 'api::page.page', path: [] },
    attribute: 'localizations',
    maxKey: KEYS,
  };
  const order = fc.record({
    sourceOrder: fc.integer({ max: 3, min: 0 }),
    targetOrder: fc.integer({ max: 3, min: 0 }),
  });
  return oneOf([...relations, localizations]).chain(({ space, attribute, maxKey }) =>
    fc.record({
      space: fc.constant(space),
      attribute: fc.constant(attribute),
      world,
      source:
        maxKey > KEYS
          ? fc.integer({ min: 1, max: KEYS }).chain((k) => componentKey(k, maxKey))
          : fc.integer({ min: 1, max: KEYS }),
      target: fc.integer({ min: 1, max: KEYS }),
      order: fc.option(order, { freq: 4 }),
    }),
  );
}

/** A component's key: its holder's with one more digit per level. */
function componentKey(holder: number, maxKey: number): fc.Arbitrary<number> {
  if (holder * 10 > maxKey) return fc.constant(holder);
  return fc.integer({ min: 1, max: 2 }).chain((place) => componentKey(holder * 10 + place, maxKey));
}

type KnownSpace = { readonly space: RowSpace; readonly model: Model; readonly maxKey: number };

/** Every row space: content types and what is below them. */
function rowSpaces(registry: SchemaRegistry): KnownSpace[] {
  const below = (known: KnownSpace): KnownSpace[] => [
    known,
    ...[...known.model.attributes.values()].flatMap((attribute) =>
      componentKinds(attribute).flatMap((uid) => {
        const zone = attribute.kind === 'dynamiczone' ? { zoneComponent: uid } : {};
        const path = [...known.space.path, { attribute: attribute.name, ...zone }];
        const space = { type: known.space.type, path };
        return below({ space, model: componentOf(registry, uid), maxKey: known.maxKey * 10 + 9 });
      }),
    ),
  ];
  return ownTypes(registry).flatMap((type) =>
    below({ space: { type: type.uid, path: [] }, model: type, maxKey: KEYS }),
  );
}

/** Batches at positions 1, 2, …; a row keeps its id or, one time in three, gets the next one. */
export function historyOf(registry: SchemaRegistry): fc.Arbitrary<readonly ChangeBatch[]> {
  const batch = (rows: number, links: number) =>
    fc.record({
      rows: fc.array(fc.tuple(rowPlans(registry), fc.nat(2)), { minLength: rows, maxLength: rows * 2 + 5 }),
      links: fc.array(linkChanges(registry), { minLength: links, maxLength: links * 2 + 20 }),
    });
  // Most of the rows and links come first, so that the later batches change something.
  const batches = fc.tuple(batch(40, 80), fc.array(batch(0, 0), { maxLength: 3 }));
  return batches.map(([first, later]) => {
    const plans = [first, ...later];
    const ids = new Map<string, number>();
    let lastId = 0;
    return plans.map(({ rows, links }, i) => ({
      position: BigInt(i + 1),
      rows: rows.map(([{ type, version, key, row }, renew]) => {
        const name = `${type} ${version} ${key}`;
        const known = ids.get(name);
        const id = known === undefined || renew === 0 ? ++lastId : known;
        ids.set(name, id);
        return { type, version, key, row: row?.(id) ?? null };
      }),
      links,
    }));
  });
}

/** A comparison of one field. */
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

function sortKeys(registry: SchemaRegistry, model: Model, depth: number): fc.Arbitrary<SortKey> {
  const direction = fc.constantFrom('asc', 'desc');
  const fields = scalarsOf(model)
    .filter(({ type }) => fieldTypeOf(type) !== 'json')
    .map(({ name }) => name);
  const own = fc
    .tuple(oneOf('kind' in model ? [...fields, '$publication'] : fields), direction)
    .map(([field, d]): SortKey => ({ path: [], field, direction: d }));
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

export function searchRequests(registry: SchemaRegistry): fc.Arbitrary<SearchRequest> {
  return oneOf(ownTypes(registry)).chain(({ uid }) => searchOf(registry, uid));
}

/** A follow whose parents are the hits of a search. */
export type FollowPlan = {
  readonly parents: SearchRequest;
  readonly inZone: boolean;
  readonly request: Omit<FollowRequest, 'parents'>;
};

export function followPlans(registry: SchemaRegistry): fc.Arbitrary<FollowPlan> {
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
      .map(([parents, refined, most, countOnly]): FollowPlan => {
        const space = { type, path: [] };
        const request = { space, world: parents.world, attribute, limit: most, countOnly, ...refined };
        return { parents: { ...parents, query: { kind: 'match_all' } }, inZone, request };
      });
  });
}
