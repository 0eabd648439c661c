import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import type { GraphFileOptions } from '../../projections/graph/graph-file.ts';
import type { DocumentEvent, VarveEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { Json } from '../../shared/json.ts';
import type { ChangeBatch, IndexedRow, LinkChange, RowChange } from '../../shared/read-index/read-index.ts';

/** Content types of the graph's tests: every kind of relation, with and without draft & publish and locales. */
const LOCALIZED = { pluginOptions: { i18n: { localized: true } } };
const SHARED = { pluginOptions: { i18n: { localized: false } } };
type Schema = { [key: string]: Json };

function type(name: string, draftAndPublish: boolean, attributes: Schema, more: Schema = {}): Schema {
  return {
    kind: 'collectionType',
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish },
    ...more,
    attributes,
  };
}

function relation(kind: string, target: string, more: Schema = {}): Schema {
  return { type: 'relation', relation: kind, target: uid(target), ...more };
}

/** Returns the uid of a short name. Built-in types are named by their uid. */
export function uid(name: string): string {
  return name.includes('::') ? name : `api::${name}.${name}`;
}

const COMPONENTS: { [uid: string]: Json } = {
  'common.address': {
    info: { displayName: 'address' },
    attributes: {
      city: { type: 'string' },
      note: { type: 'string', private: true },
      geo: { type: 'component', component: 'common.geo', repeatable: false },
      country: relation('oneToOne', 'country'),
    },
  },
  'common.geo': { info: { displayName: 'geo' }, attributes: { lat: { type: 'float' } } },
  'blocks.teaser': {
    info: { displayName: 'teaser' },
    attributes: { label: { type: 'string' }, chefs: relation('oneToMany', 'chef') },
  },
};

export const SCHEMAS: { [name: string]: Schema } = {
  country: type('country', false, {
    name: { type: 'string', unique: true },
    chefs: relation('oneToMany', 'chef', { mappedBy: 'country' }),
  }),
  tag: type('tag', false, {
    name: { type: 'string' },
    restaurants: relation('manyToMany', 'restaurant', { mappedBy: 'tags' }),
  }),
  menu: type('menu', true, {
    name: { type: 'string' },
    restaurant: relation('oneToOne', 'restaurant', { mappedBy: 'menu' }),
  }),
  chef: type('chef', true, {
    name: { type: 'string', unique: true },
    country: relation('manyToOne', 'country', { inversedBy: 'chefs' }),
    mentor: relation('manyToOne', 'chef', { inversedBy: 'mentees' }),
    mentees: relation('oneToMany', 'chef', { mappedBy: 'mentor' }),
    restaurants: relation('oneToMany', 'restaurant', { mappedBy: 'chef' }),
  }),
  restaurant: type('restaurant', true, {
    name: { type: 'string', unique: true },
    stars: { type: 'integer' },
    visits: { type: 'biginteger' },
    opensAt: { type: 'time' },
    extra: { type: 'json' },
    secret: { type: 'string', private: true },
    address: { type: 'component', component: 'common.address', repeatable: false },
    sections: { type: 'dynamiczone', components: ['blocks.teaser', 'common.geo'] },
    chef: relation('manyToOne', 'chef', { inversedBy: 'restaurants' }),
    menu: relation('oneToOne', 'menu', { inversedBy: 'restaurant' }),
    tags: relation('manyToMany', 'tag', { inversedBy: 'restaurants' }),
    similar: relation('oneToMany', 'restaurant'),
    reviews: relation('oneToMany', 'review', { mappedBy: 'restaurant' }),
  }),
  review: type('review', false, {
    title: { type: 'string' },
    restaurant: relation('manyToOne', 'restaurant', { inversedBy: 'reviews' }),
  }),
  topic: type('topic', false, { label: { type: 'string', ...LOCALIZED } }, LOCALIZED),
  article: type(
    'article',
    true,
    {
      title: { type: 'string', ...LOCALIZED },
      code: { type: 'string', ...SHARED },
      author: relation('manyToOne', 'chef'),
      topics: relation('manyToMany', 'topic'),
      pictures: { type: 'media', multiple: true, ...SHARED },
      place: { type: 'component', component: 'common.address', repeatable: false, ...SHARED },
    },
    LOCALIZED,
  ),
};

export function definition(name: string, schema: Json = SCHEMAS[name] as Json): VarveEvent {
  const components = name === 'restaurant' || name === 'article' ? COMPONENTS : {};
  return { type: 'content-type-defined', data: { uid: uid(name), schema, components, defaultLocale: 'en' } };
}

export const DEFINITIONS: readonly VarveEvent[] = Object.keys(SCHEMAS).map((name) => definition(name));

/** Creates a log that gives events their revisions, positions and times. Each event is a second later than the last. */
export function createLog(): { add(...events: readonly VarveEvent[]): StoredEvent[]; all(): StoredEvent[] } {
  const log: StoredEvent[] = [];
  const revisions = new Map<string, bigint>();
  return {
    add(...events) {
      const added = events.map((event) => {
        const stream =
          'uid' in event.data ? `type-${event.data.uid}` : `${event.data.type}-${event.data.documentId}`;
        const revision = (revisions.get(stream) ?? -1n) + 1n;
        revisions.set(stream, revision);
        const position = BigInt(log.length + 1);
        const at = new Date(Date.UTC(2024, 0, 1) + Number(position) * 1000).toISOString();
        const metadata = { schemaVersion: 1, at, epoch: 0 };
        const stored = { id: `event-${position}`, stream, revision, position, ...event, metadata };
        log.push(stored);
        return stored;
      });
      return added;
    },
    all: () => [...log],
  };
}

type Edit = {
  values?: Schema;
  shared?: string[];
  relations?: DocumentEvent['data'] extends never ? never : unknown[];
  id?: number;
};

function entryData(name: string, documentId: string, locale: string | null) {
  return { type: uid(name), documentId, locale };
}

export function created(
  name: string,
  documentId: string,
  edit: Edit = {},
  locale: string | null = null,
): VarveEvent {
  const { values = {}, shared = [], relations = [], ...more } = edit;
  const data = { ...entryData(name, documentId, locale), values, shared, relations, ...more };
  return { type: 'entry-created', data } as VarveEvent;
}

export function changed(
  name: string,
  documentId: string,
  edit: Edit,
  locale: string | null = null,
): VarveEvent {
  const { values = {}, shared = [], relations = [] } = edit;
  return {
    type: 'entry-changed',
    data: { ...entryData(name, documentId, locale), values, shared, relations },
  } as VarveEvent;
}

export function published(name: string, documentId: string, locale: string | null = null): VarveEvent {
  return { type: 'entry-published', data: entryData(name, documentId, locale) };
}

export function unpublished(name: string, documentId: string, locale: string | null = null): VarveEvent {
  return { type: 'entry-unpublished', data: entryData(name, documentId, locale) };
}

export function discarded(name: string, documentId: string, locale: string | null = null): VarveEvent {
  return { type: 'draft-discarded', data: entryData(name, documentId, locale) };
}

export function deleted(name: string, documentId: string, locale: string | null = null): VarveEvent {
  return { type: 'entry-deleted', data: entryData(name, documentId, locale) };
}

function to(...documentIds: string[]) {
  return documentIds.map((documentId) => ({ documentId, locale: null as string | null }));
}

export function set(attribute: string, ...documentIds: string[]) {
  return { attribute, kind: 'set', targets: to(...documentIds) };
}

export function connect(attribute: string, documentId: string, place: Json = { at: 'end' }) {
  return { attribute, kind: 'update', disconnect: [], connect: [{ target: to(documentId)[0], place }] };
}

export function disconnect(attribute: string, documentId: string) {
  return { attribute, kind: 'update', disconnect: to(documentId), connect: [] };
}

/** Content of an index that folds change batches, in plain maps: rows by `<type> <version> <key>`, links by their ends. */
export type FoldedIndex = {
  readonly rows: Map<
    string,
    IndexedRow & { readonly key: number; readonly type: string; readonly version: string }
  >;
  readonly links: Map<string, LinkChange>;
};

export function foldBatches(batches: Iterable<ChangeBatch>, into?: FoldedIndex): FoldedIndex {
  const index: FoldedIndex = into ?? { rows: new Map(), links: new Map() };
  for (const batch of batches) {
    for (const change of batch.rows) foldRow(index, change);
    for (const change of batch.links) {
      const key = linkKey(change);
      if (change.order === null) index.links.delete(key);
      else index.links.set(key, change);
    }
    dropDanglingLinks(index);
  }
  return index;
}

function foldRow(index: FoldedIndex, { type: typeUid, version, key, row }: RowChange): void {
  const name = `${typeUid} ${version} ${key}`;
  if (row === null) index.rows.delete(name);
  else index.rows.set(name, { ...row, key, type: typeUid, version });
}

function linkKey({ rowSet, attribute, world, source, target }: LinkChange): string {
  return JSON.stringify([rowSet, attribute, world, source, target]);
}

/** Removes the links of rows and components that no longer exist. Row keys are unique. */
function dropDanglingLinks(index: FoldedIndex): void {
  const components = new Set<string>();
  const rows = new Set<number>();
  for (const row of index.rows.values()) {
    rows.add(row.key);
    collectComponents(row.components, components);
  }
  for (const [key, { rowSet, source, target }] of index.links) {
    const hasSource =
      rowSet.path.length === 0 ? rows.has(source) : components.has(`${componentAt(rowSet)} ${source}`);
    if (!hasSource || !rows.has(target)) index.links.delete(key);
  }
}

/** Returns the component at the end of a path. In these schemas the last step names it. */
function componentAt({ path }: LinkChange['rowSet']): string {
  const last = path.at(-1);
  return last?.zoneComponent ?? (last?.attribute === 'geo' ? 'common.geo' : 'common.address');
}

function collectComponents(components: IndexedRow['components'], into: Set<string>): void {
  for (const list of Object.values(components)) {
    for (const { component, key, components: nested } of list) {
      into.add(`${component} ${key}`);
      collectComponents(nested, into);
    }
  }
}

/** Returns a folded index as sorted plain data. */
export function dumpIndex({ rows, links }: FoldedIndex): unknown {
  const text = (row: IndexedRow): unknown =>
    JSON.parse(
      JSON.stringify(row, (_, value) => {
        if (typeof value === 'bigint') return `${value}n`;
        return value?.type === 'Buffer' ? Buffer.from(value.data).toString() : value;
      }),
    );
  return {
    rows: [...rows.entries()].sort(byKey).map(([key, row]) => [key, text(row)]),
    links: [...links.entries()].sort(byKey).map(([key, { order }]) => [key, order]),
  };
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

export type TestGraph = {
  readonly graph: ContentGraph;
  readonly index: FoldedIndex;
  /** Applies the events in one batch and folds the resulting changes. */
  given(...events: readonly VarveEvent[]): ChangeBatch;
  /** Returns the response JSON of a row, or undefined if there is none. */
  row(name: string, documentId: string, version: string, locale?: string): Schema | undefined;
  field(name: string, documentId: string, version: string, field: string, locale?: string): unknown;
  /** Returns the documents to which a document's links of `name.attribute` (owning side) lead in a world, in order. */
  targets(name: string, attribute: string, world: string, documentId: string, locale?: string): string[];
  /** Returns the documents whose links lead to a document, in order. */
  sources(name: string, attribute: string, world: string, documentId: string, locale?: string): string[];
  close(): void;
};

/** Runs `work` with a graph in a new folder, which is removed afterwards. */
export function withGraph<T>(options: GraphFileOptions, work: (graph: ContentGraph) => T): T {
  return withFolder((folder) => {
    const graph = openContentGraph(path.join(folder, 'graph.db'), options);
    try {
      return work(graph);
    } finally {
      graph.close();
    }
  });
}

export function withFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-graph-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function openTestGraph(): TestGraph {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-graph-'));
  const graph = openContentGraph(path.join(folder, 'graph.db'));
  const log = createLog();
  const index = foldBatches([graph.apply(log.add(...DEFINITIONS))]);
  const rowOf = (name: string, documentId: string, version: string, locale?: string) =>
    [...index.rows.values()].find(
      (row) =>
        row.type === uid(name) &&
        row.version === version &&
        row.fields['documentId'] === documentId &&
        (locale === undefined || row.fields['locale'] === locale),
    );
  const anyRow = (world: string, key: number) =>
    [...index.rows.values()].find(
      (row) => row.key === key && (row.version === world || row.version === 'live'),
    );
  const linksOf = (name: string, attribute: string, world: string) =>
    [...index.links.values()].filter(
      (link) => link.rowSet.type === uid(name) && link.attribute === attribute && link.world === world,
    );
  const label = (world: string, key: number) => String(anyRow(world, key)?.fields['documentId']);
  const ownRow = (world: string, key: number, documentId: string, locale?: string) => {
    const row = anyRow(world, key);
    return (
      row?.fields['documentId'] === documentId && (locale === undefined || row.fields['locale'] === locale)
    );
  };
  return {
    graph,
    index,
    given(...events) {
      const batch = graph.apply(log.add(...events));
      foldBatches([batch], index);
      return batch;
    },
    row(name, documentId, version, locale) {
      const row = rowOf(name, documentId, version, locale);
      return row === undefined ? undefined : JSON.parse(Buffer.from(row.source).toString());
    },
    field: (name, documentId, version, field, locale) =>
      rowOf(name, documentId, version, locale)?.fields[field],
    targets: (name, attribute, world, documentId, locale) =>
      linksOf(name, attribute, world)
        .filter(({ source }) => ownRow(world, source, documentId, locale))
        .sort((a, b) => (a.order?.sourceOrder ?? 0) - (b.order?.sourceOrder ?? 0) || a.target - b.target)
        .map(({ target }) => label(world, target)),
    sources: (name, attribute, world, documentId, locale) =>
      linksOf(name, attribute, world)
        .filter(({ target }) => ownRow(world, target, documentId, locale))
        .sort((a, b) => (a.order?.targetOrder ?? 0) - (b.order?.targetOrder ?? 0) || a.source - b.source)
        .map(({ source }) => label(world, source)),
    close() {
      graph.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
