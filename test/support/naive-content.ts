import { PUBLICATION_STATES, type Scalar } from '../../shared/read-index/bool-query.ts';
import { columnValue } from '../../shared/read-index/column.ts';
import {
  type ChangeBatch,
  type ComponentStep,
  type IndexedComponent,
  type LinkChange,
  type RowChange,
  type RowVersion,
  WORLDS,
  type World,
} from '../../shared/read-index/read-index.ts';
import type {
  ContentType,
  Model,
  RelationAttribute,
  ScalarType,
  Uid,
} from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';
import type { PlainRow } from './naive-filter.ts';
import type { Random } from './naive-random.ts';

/** Small random content of every type: as plain rows per world, and as the batch for a read index. */
export type NaiveContent = {
  readonly batch: ChangeBatch;
  readonly rows: (type: Uid, world: World) => readonly PlainRow[];
};

/** A row or component while links are created. The links of the world are added to `links`. */
type Node = { readonly key: number; readonly fields: Record<string, Scalar | null>; readonly links: Links };
type Links = Record<string, Node[]>;
type Row = Node & {
  readonly version: RowVersion;
  readonly locale: string | null;
  readonly components: Components;
};
type Components = Record<string, (Node & { readonly uid: Uid; readonly components: Components })[]>;
type Context = { readonly random: Random; readonly registry: SchemaRegistry; nextKey: number };

const TEXTS = [
  '',
  'a',
  'A',
  'Straße',
  'STRASSE',
  'İx',
  'ıx',
  '100%',
  '_',
  'a\\b',
  'null',
  'Élan',
  '\u{1F355}',
  '\u{FB01}',
];
const LOCALES = ['en', 'fr', 'de'];

/** Values of rows and filters, in the form of answers. */
export const VALUE_POOL: { readonly [type in ScalarType]: readonly unknown[] } = {
  string: TEXTS,
  text: TEXTS,
  richtext: TEXTS,
  email: ['a@b.c', 'A@b.c', 'x@y.z'],
  password: ['secret'],
  uid: ['a', 'b-c', 'x_1'],
  enumeration: ['mon', 'tue', 'calm', 'loud'],
  integer: [-2147483648, -1, 0, 1, 3, 2147483647],
  biginteger: [
    '-9223372036854775808',
    '0',
    '7',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775807',
  ],
  decimal: [-0.7, 0, 0.1, 9.99, 10.5, 1000000],
  float: [-2.5, 0, 1e-7, 0.30000000000000004, 4.5, 1e21],
  boolean: [true, false],
  date: ['1970-01-01', '1999-12-31', '2024-02-29', '9999-12-31'],
  time: ['00:00:00', '08:30:00', '12:00:00.5', '23:59:59.999'],
  datetime: ['1970-01-01T00:00:00.000Z', '2024-01-01T00:00:00.000Z', '2038-01-19T03:14:08.500Z'],
  json: [{}, [], 1, 'text', { a: 1 }, { b: 'É', aa: [null] }],
  blocks: [[{ type: 'paragraph' }], []],
};

export function createNaiveContent(random: Random, registry: SchemaRegistry): NaiveContent {
  const context: Context = { random, registry, nextKey: 1 };
  const rows = new Map<Uid, Row[]>();
  for (const type of registry.contentTypes.values()) rows.set(type.uid, createRows(context, type));
  const rowChanges = [...rows].flatMap(([type, all]) => all.map((row) => rowChange(type, row)));
  const links = WORLDS.flatMap((world) => createLinks(context, rows, world));
  const inWorld = (type: Uid, world: World) => rowsOfWorld(registry, rows, type, world);
  return {
    batch: { position: 1n, rows: rowChanges, links },
    rows: (type, world) => inWorld(type, world).map((row) => plainRow(row, world)),
  };
}

function createRows(context: Context, type: ContentType): Row[] {
  const { random } = context;
  const rows: Row[] = [];
  for (let document = random.between(3, 9); document > 0; document--) {
    const documentId = `d${String(context.nextKey).padStart(23, '0')}`;
    for (const locale of type.localized ? LOCALES.filter(() => random.chance(0.7)) : [null]) {
      const state = random.pick(PUBLICATION_STATES);
      const versions: RowVersion[] = type.draftAndPublish ? ['draft'] : ['live'];
      if (type.draftAndPublish && state !== 'never-published') versions.push('published');
      for (const version of versions) {
        const { fields, ...node } = createNode(context, type);
        const system = {
          documentId,
          locale,
          $publication: state,
          $documentPublished: state !== 'never-published',
        };
        rows.push({ ...node, fields: { ...fields, ...system }, version, locale });
      }
    }
  }
  return rows;
}

function createNode(context: Context, model: Model): Node & { readonly components: Components } {
  const { random, registry } = context;
  const key = context.nextKey++;
  const fields: Record<string, Scalar | null> = {};
  for (const { name, type } of queryableScalars(model).values()) {
    fields[name] = random.chance(0.25) ? null : columnValue(type, random.pick(VALUE_POOL[type]));
  }
  const components: Components = {};
  for (const attribute of model.attributes.values()) {
    if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') continue;
    const single = attribute.kind === 'component' && !attribute.repeatable;
    const kinds = attribute.kind === 'component' ? [attribute.component] : attribute.components;
    components[attribute.name] = Array.from({ length: random.between(0, single ? 1 : 2) }, () => {
      const uid = random.pick(kinds);
      return { uid, ...createNode(context, componentOf(registry, uid)) };
    });
  }
  return { key, fields: { ...fields, id: key }, links: {}, components };
}

/** Creates links of the owning side of every relation, to random targets in the same world. Adds them to the inverse side as well. */
function createLinks(context: Context, rows: ReadonlyMap<Uid, Row[]>, world: World): LinkChange[] {
  return [...context.registry.contentTypes.values()].flatMap((type) => {
    const own = rowsOfWorld(context.registry, rows, type.uid, world);
    return own.flatMap((row) => [
      ...linkNode(context, rows, { world, type: type.uid, model: type, path: [] }, row),
      ...(type.localized ? linkLocalizations(type.uid, row, own, world) : []),
    ]);
  });
}

type Place = {
  readonly world: World;
  readonly type: Uid;
  readonly model: Model;
  readonly path: readonly ComponentStep[];
};

function linkNode(
  context: Context,
  rows: ReadonlyMap<Uid, Row[]>,
  place: Place,
  node: Node & { readonly components: Components },
): LinkChange[] {
  const relations = [...place.model.attributes.values()].filter((attribute) => attribute.kind === 'relation');
  const own = relations
    .filter((attribute) => attribute.mappedBy === undefined)
    .flatMap((attribute) => linkRelation(context, rows, place, node, attribute));
  const below = Object.entries(node.components).flatMap(([attribute, children]) => {
    const zone = place.model.attributes.get(attribute)?.kind === 'dynamiczone';
    return children.flatMap((child) => {
      const step = zone ? { attribute, zoneComponent: child.uid } : { attribute };
      const model = componentOf(context.registry, child.uid);
      return linkNode(context, rows, { ...place, model, path: [...place.path, step] }, child);
    });
  });
  return [...own, ...below];
}

function linkRelation(
  context: Context,
  rows: ReadonlyMap<Uid, Row[]>,
  { world, type, path }: Place,
  node: Node,
  attribute: RelationAttribute,
): LinkChange[] {
  return pickTargets(context, rows, attribute, world).map((target, order) => {
    addLink(node, `${world} ${attribute.name}`, target);
    if (attribute.inversedBy !== undefined) addLink(target, `${world} ${attribute.inversedBy}`, node);
    return {
      rowSet: { type, path },
      attribute: attribute.name,
      world,
      source: node.key,
      target: target.key,
      order: { sourceOrder: order, targetOrder: order },
    };
  });
}

function linkLocalizations(type: Uid, row: Row, all: readonly Row[], world: World): LinkChange[] {
  const others = all.filter(
    (other) => other !== row && other.fields['documentId'] === row.fields['documentId'],
  );
  return others.map((target, order) => {
    addLink(row, `${world} localizations`, target);
    const orders = { sourceOrder: order, targetOrder: order };
    const rowSet = { type, path: [] };
    return { rowSet, attribute: 'localizations', world, source: row.key, target: target.key, order: orders };
  });
}

function pickTargets(
  context: Context,
  rows: ReadonlyMap<Uid, Row[]>,
  attribute: RelationAttribute,
  world: World,
): readonly Row[] {
  const { random, registry } = context;
  const candidates = rowsOfWorld(registry, rows, attribute.target, world);
  const wanted = attribute.toMany ? random.between(0, 3) : random.between(0, 1);
  return candidates.length === 0 ? [] : random.sample(candidates, wanted);
}

function rowsOfWorld(
  registry: SchemaRegistry,
  rows: ReadonlyMap<Uid, Row[]>,
  type: Uid,
  world: World,
): readonly Row[] {
  const version = contentTypeOf(registry, type).draftAndPublish ? world : 'live';
  return (rows.get(type) ?? []).filter((row) => row.version === version);
}

function addLink(node: Node, name: string, target: Node): void {
  const links = node.links[name] ?? [];
  node.links[name] = links;
  links.push(target);
}

function rowChange(type: Uid, row: Row): RowChange {
  const { key, version, fields, components } = row;
  const indexed = { source: sourceOf(row), fields, components: indexedComponents(components) };
  return { type, version, key, row: indexed };
}

function indexedComponents(components: Components): { [attribute: string]: readonly IndexedComponent[] } {
  return Object.fromEntries(
    Object.entries(components).map(([attribute, children]) => [
      attribute,
      children.map((child) => ({
        component: child.uid,
        key: child.key,
        source: sourceOf(child),
        fields: child.fields,
        components: indexedComponents(child.components),
      })),
    ]),
  );
}

function sourceOf(node: Node): Uint8Array {
  return Buffer.from(`{"id":${node.key}}`);
}

/** Returns a row with its links and components in one world. Each view is created once, since rows link in circles. */
function plainRow(row: Node, world: World, views: Map<Node, PlainRow> = new Map()): PlainRow {
  const known = views.get(row);
  if (known !== undefined) return known;
  const links: Record<string, readonly PlainRow[]> = {};
  const view: PlainRow = { fields: row.fields, links };
  views.set(row, view);
  for (const [name, targets] of Object.entries(row.links)) {
    const [inWorld, attribute = ''] = name.split(' ');
    if (inWorld === world) links[attribute] = targets.map((target) => plainRow(target, world, views));
  }
  const { components = {} } = row as { components?: Components };
  for (const [attribute, children] of Object.entries(components)) {
    links[attribute] = children.map((child) => plainRow(child, world, views));
    for (const child of children) {
      const name = `${attribute} ${child.uid}`;
      links[name] = [...(links[name] ?? []), plainRow(child, world, views)];
    }
  }
  return view;
}
