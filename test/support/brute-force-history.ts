import fc from 'fast-check';
import type { Scalar } from '../../shared/read-index/bool-query.ts';
import { columnValue } from '../../shared/read-index/column.ts';
import type {
  ChangeBatch,
  IndexedComponent,
  IndexedRow,
  LinkChange,
  RowChange,
  RowSet,
  RowVersion,
} from '../../shared/read-index/read-index.ts';
import type { Model, Uid } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { componentKinds, oneOf, ownTypes, rawValues, scalarsOf, world } from './brute-force-values.ts';

/** Random histories of a read index over the types of a registry. */

const KEYS = 5;
const STATES = ['never-published', 'modified', 'published'];

/** Generates the fields other than the id. One in four is NULL. */
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

/** Generates the components of a row or component. Their keys are `10 * holder + place`. */
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

/** Generates links of every owning relation. */
function linkChanges(registry: SchemaRegistry): fc.Arbitrary<LinkChange> {
  const relations = rowSets(registry).flatMap(({ rowSet, model, maxKey }) =>
    [...model.attributes.values()]
      .filter((attribute) => attribute.kind === 'relation' && attribute.mappedBy === undefined)
      .map(({ name }) => ({ rowSet, attribute: name, maxKey })),
  );
  const localizations = ownTypes(registry)
    .filter(({ localized }) => localized)
    .map(({ uid }) => ({ rowSet: { type: uid, path: [] }, attribute: 'localizations', maxKey: KEYS }));
  const order = fc.record({
    sourceOrder: fc.integer({ max: 3, min: 0 }),
    targetOrder: fc.integer({ max: 3, min: 0 }),
  });
  return oneOf([...relations, ...localizations]).chain(({ rowSet, attribute, maxKey }) =>
    fc.record({
      rowSet: fc.constant(rowSet),
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

/** Generates the key of a component: it has one more digit than its holder's key. */
function componentKey(holder: number, maxKey: number): fc.Arbitrary<number> {
  if (holder * 10 > maxKey) return fc.constant(holder);
  return fc.integer({ min: 1, max: 2 }).chain((place) => componentKey(holder * 10 + place, maxKey));
}

type KnownRowSet = { readonly rowSet: RowSet; readonly model: Model; readonly maxKey: number };

/** Returns every row set: those of content types, and those of the components in them. */
function rowSets(registry: SchemaRegistry): KnownRowSet[] {
  const below = (known: KnownRowSet): KnownRowSet[] => [
    known,
    ...[...known.model.attributes.values()].flatMap((attribute) =>
      componentKinds(attribute).flatMap((uid) => {
        const zone = attribute.kind === 'dynamiczone' ? { zoneComponent: uid } : {};
        const path = [...known.rowSet.path, { attribute: attribute.name, ...zone }];
        const rowSet = { type: known.rowSet.type, path };
        return below({ rowSet, model: componentOf(registry, uid), maxKey: known.maxKey * 10 + 9 });
      }),
    ),
  ];
  return ownTypes(registry).flatMap((type) =>
    below({ rowSet: { type: type.uid, path: [] }, model: type, maxKey: KEYS }),
  );
}

/** Generates batches at positions 1, 2, …. A third of the rows that are written again gets the next id; the others keep theirs. */
export function historyOf(registry: SchemaRegistry): fc.Arbitrary<readonly ChangeBatch[]> {
  const batch = (rows: number, links: number) =>
    fc.record({
      rows: fc.array(fc.tuple(rowPlans(registry), fc.nat(2)), { minLength: rows, maxLength: rows * 2 + 5 }),
      links: fc.array(linkChanges(registry), { minLength: links, maxLength: links * 2 + 20 }),
    });
  // Most rows and links are in the first batch, so that the later batches change some of them.
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
