import { expect, onTestFinished } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type {
  ComponentStep,
  IndexedComponent,
  IndexedRow,
  LinkChange,
  ReadIndex,
  RowChange,
  RowVersion,
  SearchRequest,
  SortKey,
  TraverseRequest,
  World,
} from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { componentRow, decode, libraryRegistry, row, type Values } from './read-index-library.ts';

/** Opens an empty index over a registry. */
export type OpenIndex = (registry: SchemaRegistry) => Promise<ReadIndex>;

export const MATCH_ALL: BoolQuery = { kind: 'match_all' };
export const term = (field: string, value: string | number | bigint | boolean): BoolQuery => ({
  kind: 'term',
  field,
  value,
});
export const exists = (field: string): BoolQuery => ({ kind: 'exists', field });
export const some = (attribute: string, query: BoolQuery = MATCH_ALL): BoolQuery => ({
  kind: 'some',
  attribute,
  query,
});
export const inZone = (attribute: string, component: Uid, query: BoolQuery = MATCH_ALL): BoolQuery => ({
  kind: 'some_in_zone',
  attribute,
  component,
  query,
});
export const not = (...must_not: BoolQuery[]): BoolQuery => ({ kind: 'bool', must_not });
export const all = (...filter: BoolQuery[]): BoolQuery => ({ kind: 'bool', filter });
export const any = (...should: BoolQuery[]): BoolQuery => ({ kind: 'bool', should });
export const by = (
  field: string,
  direction: 'asc' | 'desc' = 'asc',
  path: readonly string[] = [],
): SortKey => ({
  path,
  field,
  direction,
});

type SearchOptions = Partial<Omit<SearchRequest, 'type' | 'query'>>;
type Components = IndexedRow['components'];

/** An index of the library, with functions to fill and search it. Answers have ids instead of rows. */
export type Shelf = {
  readonly index: ReadIndex;
  readonly put: (
    type: Uid,
    version: RowVersion,
    key: number,
    values: Values,
    components?: Components,
  ) => RowChange;
  readonly drop: (type: Uid, version: RowVersion, key: number) => RowChange;
  readonly part: (uid: Uid, values: Values, components?: Components) => IndexedComponent;
  readonly apply: (rows: readonly RowChange[], links?: readonly LinkChange[]) => Promise<void>;
  /** Returns the ids of the hits, by default of the published world. */
  readonly ids: (type: Uid, query: BoolQuery, options?: SearchOptions) => Promise<readonly number[]>;
  /** Returns the ids of the linked rows of each row that a search finds. */
  readonly linked: (
    type: Uid,
    attribute: string,
    options?: Partial<TraverseRequest> & { readonly of?: BoolQuery },
  ) => Promise<readonly (readonly number[])[]>;
};

export async function openShelf(open: OpenIndex): Promise<Shelf> {
  const registry = libraryRegistry();
  const index = await open(registry);
  onTestFinished(() => index.close());
  let position = 0n;
  const search = (type: Uid, query: BoolQuery, options: SearchOptions = {}) =>
    index.search({
      type,
      world: 'published',
      query,
      sort: [],
      from: 0,
      size: 1000,
      withTotal: true,
      ...options,
    });
  return {
    index,
    put: (type, version, key, values, components) => ({
      type,
      version,
      key,
      row: row(registry, type, values, components),
    }),
    drop: (type, version, key) => ({ type, version, key, row: null }),
    part: (uid, values, components) => componentRow(registry, uid, values, components),
    apply: async (rows, links = []) => {
      position++;
      await index.apply({ position, rows, links });
    },
    ids: async (type, query, options) => {
      const { total, hits } = await search(type, query, options);
      if (options?.size === undefined && options?.withTotal !== false) {
        expect(total).toBe(hits.rows.length + (options?.from ?? 0));
      }
      return hits.sources.map((source) => decode(source).id);
    },
    linked: async (type, attribute, { of = MATCH_ALL, world = 'published', ...options } = {}) => {
      const parents = await search(type, of, { world });
      const request = { rowSet: { type, path: [] }, world, attribute, limit: 1000, ...options };
      const { children, counts } = await index.traverse({ ...request, parents: parents.hits.rows });
      expect(counts).toEqual(children.map(({ rows }) => rows.length));
      return children.map(({ sources }) => sources.map((source) => decode(source).id));
    },
  };
}

/** Returns a link of a content type's attribute in one world. Its slots are 0 by default. */
export function link(
  type: Uid,
  attribute: string,
  source: number,
  target: number,
  options: {
    readonly world?: World;
    readonly order?: readonly [number, number];
    readonly path?: readonly ComponentStep[];
  } = {},
): LinkChange {
  const { world = 'published', order: [sourceOrder, targetOrder] = [0, 0], path = [] } = options;
  return { rowSet: { type, path }, attribute, world, source, target, order: { sourceOrder, targetOrder } };
}

export function unlink(
  type: Uid,
  attribute: string,
  source: number,
  target: number,
  world: World = 'published',
): LinkChange {
  return { rowSet: { type, path: [] }, attribute, world, source, target, order: null };
}
