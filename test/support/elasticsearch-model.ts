import type { Neighbour, Neighbours } from '../../shared/read-index/document-index.ts';
import type { DocumentLayout } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { DocumentBody } from '../../shared/read-index/elasticsearch/layout/index-document.ts';
import type {
  ChangeBatch,
  IndexedComponent,
  IndexedRow,
  LinkChange,
  RowSet,
  World,
} from '../../shared/read-index/read-index.ts';
import { rowVersion } from '../../shared/read-index/read-index.ts';
import type { Attribute, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { documentText } from './document-text.ts';

/** Rows and links of batches in plain maps. It replaces the content graph in tests without a log. */
export type RowModel = {
  apply(batch: ChangeBatch): void;
  /** Returns every document of a type in a world, by key. */
  documents(layout: DocumentLayout, world: World): Map<number, DocumentBody>;
};

type State = {
  readonly registry: SchemaRegistry;
  readonly rows: Map<string, Map<number, IndexedRow>>;
  links: LinkChange[];
};

export function createRowModel(registry: SchemaRegistry): RowModel {
  const state: State = { registry, rows: new Map(), links: [] };
  return {
    apply: (batch) => apply(state, batch),
    documents(layout, world) {
      const neighbours = neighboursIn(state, world);
      const found = [...rowsOf(state, layout.type, world)];
      const body = (key: number, row: IndexedRow) =>
        JSON.parse(documentText(layout, key, row, neighbours)) as DocumentBody;
      return new Map(found.map(([key, row]) => [key, body(key, row)]));
    },
  };
}

function apply(state: State, batch: ChangeBatch): void {
  for (const { type, version, key, row } of batch.rows) {
    const rows = state.rows.get(`${type} ${version}`) ?? new Map<number, IndexedRow>();
    state.rows.set(`${type} ${version}`, rows);
    if (row === null) rows.delete(key);
    else rows.set(key, row);
    state.links = state.links.filter((link) => bothEnds(state, link));
  }
  for (const link of batch.links) {
    state.links = state.links.filter((other) => !isSame(link, other));
    if (link.order !== null && bothEnds(state, link)) state.links.push(link);
  }
}

function isSame(a: LinkChange, b: LinkChange): boolean {
  const ends = a.source === b.source && a.target === b.target && a.world === b.world;
  return ends && a.attribute === b.attribute && isSameRowSet(a.rowSet, b.rowSet);
}

function isSameRowSet(a: RowSet, b: RowSet): boolean {
  return a.type === b.type && JSON.stringify(a.path) === JSON.stringify(b.path);
}

function rowsOf({ registry, rows }: State, type: Uid, world: World): Map<number, IndexedRow> {
  const version = rowVersion(contentTypeOf(registry, type).draftAndPublish, world);
  return rows.get(`${type} ${version}`) ?? new Map();
}

function bothEnds(state: State, link: LinkChange): boolean {
  const { type, path } = link.rowSet;
  const sources = rowsOf(state, type, link.world);
  const holder = path.length === 0 ? sources.has(link.source) : hasComponent(sources.values(), link);
  return holder && rowsOf(state, targetOf(state, link), link.world).has(link.target);
}

function hasComponent(rows: Iterable<IndexedRow>, { rowSet, source }: LinkChange): boolean {
  let held: (IndexedRow | IndexedComponent)[] = [...rows];
  for (const { attribute, zoneComponent } of rowSet.path) {
    held = held
      .flatMap(({ components }) => components[attribute] ?? [])
      .filter(({ component }) => zoneComponent === undefined || component === zoneComponent);
  }
  return held.some((each) => 'key' in each && each.key === source);
}

/** Returns the type at the other end of a link. For `localizations` it is the same type. */
function targetOf({ registry }: State, { rowSet, attribute }: LinkChange): Uid {
  const definition = attributeAt(registry, rowSet, attribute);
  return definition?.kind === 'relation' ? definition.target : rowSet.type;
}

function attributeAt(registry: SchemaRegistry, rowSet: RowSet, name: string): Attribute | undefined {
  let attributes = contentTypeOf(registry, rowSet.type).attributes;
  for (const { attribute, zoneComponent } of rowSet.path) {
    const step = attributes.get(attribute);
    const uid = zoneComponent ?? (step?.kind === 'component' ? step.component : '');
    attributes = registry.components.get(uid)?.attributes ?? new Map();
  }
  return attributes.get(name);
}

function neighboursIn(state: State, world: World): Neighbours {
  return {
    row: (type, key) => rowsOf(state, type, world).get(key),
    linked(rowSet, key, attribute) {
      const definition = attributeAt(state.registry, rowSet, attribute);
      const isInverse = definition?.kind === 'relation' && definition.mappedBy !== undefined;
      const end = isInverse
        ? inverseEnd(definition.target, definition.mappedBy, key)
        : ownedEnd(rowSet, key, attribute);
      const found = state.links.filter((link) => link.world === world).flatMap(end);
      return found.sort((a, b) => a.order - b.order || a.key - b.key);
    },
  };
}

/** Returns the other end of a link, or nothing if the link is not one of those that were asked for. */
type LinkEnd = (link: LinkChange) => readonly (Neighbour & { readonly order: number })[];

function ownedEnd(rowSet: RowSet, key: number, attribute: string): LinkEnd {
  return (link) => {
    const isAsked = link.attribute === attribute && link.source === key && isSameRowSet(link.rowSet, rowSet);
    if (!isAsked || link.order === null) return [];
    return [{ key: link.target, order: link.order.sourceOrder, otherOrder: link.order.targetOrder }];
  };
}

function inverseEnd(owner: Uid, mappedBy: string | undefined, key: number): LinkEnd {
  const rowSet: RowSet = { type: owner, path: [] };
  return (link) => {
    const isAsked = link.attribute === mappedBy && link.target === key && isSameRowSet(link.rowSet, rowSet);
    if (!isAsked || link.order === null) return [];
    return [{ key: link.source, order: link.order.targetOrder, otherOrder: link.order.sourceOrder }];
  };
}
