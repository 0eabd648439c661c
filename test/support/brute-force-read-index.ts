import { defined } from '../../shared/defined.ts';
import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import type { FacetRequest } from '../../shared/read-index/facets.ts';
import type {
  ChangeBatch,
  ComponentStep,
  IndexedComponent,
  IndexedRow,
  LinkChange,
  ReadIndex,
  SearchRequest,
  SearchResult,
  SortKey,
  TraverseRequest,
  TraverseResult,
  World,
} from '../../shared/read-index/read-index.ts';
import type { Model, Uid } from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

import { compare, compares } from './brute-force-comparisons.ts';
import { countNaively } from './brute-force-facets.ts';
import { isInAreaNaively, stepsNaively } from './naive-geo.ts';

/** A row or component, and its place. */
type Node = {
  readonly type: Uid;
  readonly version: string;
  readonly path: readonly ComponentStep[];
  readonly model: Model;
  readonly key: number;
  readonly row: IndexedRow | IndexedComponent;
};

type State = { readonly registry: SchemaRegistry; roots: Node[]; links: LinkChange[]; handles: Node[] };

/** Creates a `ReadIndex` of plain arrays and loops. It is slow and small, and shares no code with the adapters that it verifies. */
export function createBruteForceReadIndex(registry: SchemaRegistry): ReadIndex {
  const state: State = { registry, roots: [], links: [], handles: [] };
  let position = 0n;
  return {
    apply: async (batch) => {
      if (batch.position < position) return;
      apply(state, batch);
      position = batch.position;
    },
    position: () => position,
    search: async (request) => search(state, request),
    searchMany: async (requests) => requests.map((request) => search(state, request)),
    traverse: async (request) => traverse(state, request),
    answer: (work) => work({}),
    explain: async ({ query }) => ({ engine: 'brute force', query }),
    close: async () => {},
  };
}

function apply(state: State, batch: ChangeBatch): void {
  for (const { type, version, key, row } of batch.rows) {
    state.roots = state.roots.filter((n) => n.type !== type || n.version !== version || n.key !== key);
    const model = contentTypeOf(state.registry, type);
    if (row !== null) state.roots.push({ type, version, path: [], model, key, row });
    state.links = state.links.filter((link) => sourceOf(state, link) && targetOf(state, link));
  }
  for (const link of batch.links) {
    state.links = state.links.filter((other) => !sameLink(link, other));
    if (link.order !== null && sourceOf(state, link) && targetOf(state, link)) state.links.push(link);
  }
}

function sameLink(a: LinkChange, b: LinkChange): boolean {
  const ends = a.source === b.source && a.target === b.target && a.world === b.world;
  return ends && a.attribute === b.attribute && samePlace(a.rowSet, b.rowSet);
}

const samePlace = (a: { type: Uid; path: unknown }, b: { type: Uid; path: unknown }) =>
  a.type === b.type && JSON.stringify(a.path) === JSON.stringify(b.path);

function nodes(state: State, type: Uid, world: World, path: readonly ComponentStep[] = []): Node[] {
  const version = contentTypeOf(state.registry, type).draftAndPublish ? world : 'live';
  let found = state.roots.filter((node) => node.type === type && node.version === version);
  for (const step of path)
    found = found.flatMap((node) => below(state, node, step.attribute, step.zoneComponent));
  return found;
}

function sourceOf(state: State, link: LinkChange): Node | undefined {
  return nodes(state, link.rowSet.type, link.world, link.rowSet.path).find(
    (node) => node.key === link.source,
  );
}

function targetOf(state: State, link: LinkChange): Node | undefined {
  const source = sourceOf(state, link);
  const attribute = source?.model.attributes.get(link.attribute);
  const type = attribute?.kind === 'relation' ? attribute.target : link.rowSet.type;
  return nodes(state, type, link.world).find((node) => node.key === link.target);
}

/** Returns the components of a row, if `kind` is given only of that kind. */
function below(state: State, node: Node, attribute: string, kind?: Uid): Node[] {
  const inZone = node.model.attributes.get(attribute)?.kind === 'dynamiczone';
  return (node.row.components[attribute] ?? [])
    .filter((child) => kind === undefined || child.component === kind)
    .map((child) => ({
      type: node.type,
      version: node.version,
      path: [...node.path, inZone ? { attribute, zoneComponent: child.component } : { attribute }],
      model: componentOf(state.registry, child.component),
      key: child.key,
      row: child,
    }));
}

/** Returns the rows and components at the other ends of an attribute, in the order of their links. */
function linked(state: State, node: Node, world: World, attribute: string, kind?: Uid): Node[] {
  const definition = node.model.attributes.get(attribute);
  if (definition?.kind === 'component' || definition?.kind === 'dynamiczone') {
    return below(state, node, attribute, kind);
  }
  const inverse = definition?.kind === 'relation' ? definition.mappedBy : undefined;
  const found = state.links.flatMap((link) => {
    if (link.world !== world || link.order === null) return [];
    const { sourceOrder, targetOrder } = link.order;
    if (inverse === undefined) {
      const here = link.attribute === attribute && samePlace(link.rowSet, node) && link.source === node.key;
      return here ? [{ end: targetOf(state, link) as Node, order: sourceOrder }] : [];
    }
    const target = targetOf(state, link) as Node;
    const here = link.attribute === inverse && target.type === node.type && link.target === node.key;
    const owner = definition?.kind === 'relation' && link.rowSet.type === definition.target;
    return here && owner && link.rowSet.path.length === 0
      ? [{ end: sourceOf(state, link) as Node, order: targetOrder }]
      : [];
  });
  return found.sort((a, b) => a.order - b.order || a.end.key - b.end.key).map(({ end }) => end);
}

function matches(state: State, node: Node, world: World, query: BoolQuery): boolean {
  switch (query.kind) {
    case 'match_all':
      return true;
    case 'match_none':
      return false;
    case 'some':
      return linked(state, node, world, query.attribute).some((n) => matches(state, n, world, query.query));
    case 'some_in_zone':
      return linked(state, node, world, query.attribute, query.component).some((n) =>
        matches(state, n, world, query.query),
      );
    case 'bool': {
      const holds = (part: BoolQuery) => matches(state, node, world, part);
      const should = query.should === undefined || query.should.some(holds);
      return should && (query.filter ?? []).every(holds) && !(query.must_not ?? []).some(holds);
    }
    case 'area': {
      const { lat, lng } = query.columns;
      const { fields } = node.row;
      return isInAreaNaively({ kind: 'circle', ...query.circle }, fields[lat], fields[lng]) === true;
    }
    default: {
      const known = queryableScalars(node.model).has(query.field) || query.field.startsWith('$');
      if (!known) throw new Error(`${node.model.uid} has no field ${query.field}`);
      const value = node.row.fields[query.field];
      return value !== null && value !== undefined && compares(node.model, query, value);
    }
  }
}

function sorted(state: State, found: readonly Node[], world: World, sort: readonly SortKey[]): Node[] {
  return placed(state, found, world, sort).map(({ node }) => node);
}

type Placed = { readonly node: Node; readonly key: readonly (Scalar | null)[] };

/** Returns the rows in order, each with its place. */
function placed(state: State, found: readonly Node[], world: World, sort: readonly SortKey[]): Placed[] {
  const keys = withId(sort);
  const values = (node: Node, path: readonly string[], field: string): (Scalar | null)[] => {
    const [first, ...rest] = path;
    if (first === undefined) return [rank(node.row.fields[field] ?? null, field)];
    const next = linked(state, node, world, first);
    return next.length === 0 ? [null] : next.flatMap((child) => values(child, rest, field));
  };
  const keyed = found.map((node) => ({
    node,
    key: keys.map((sortKey) => {
      if ('nearest' in sortKey) return stepsNaively(sortKey.nearest, node.row.fields);
      const { path, field, direction } = sortKey;
      const all = values(node, path, field).sort(compare);
      return (direction === 'asc' ? all[0] : all.at(-1)) ?? null;
    }),
  }));
  return keyed.sort((a, b) => comparePlaces(keys, a.key, b.key));
}

const withId = (sort: readonly SortKey[]): SortKey[] => [
  ...sort,
  { path: [], field: 'id', direction: 'asc' },
];

function comparePlaces(
  keys: readonly SortKey[],
  a: readonly (Scalar | null)[],
  b: readonly (Scalar | null)[],
): number {
  for (const [i, { direction }] of keys.entries()) {
    const order = compare(a[i] ?? null, b[i] ?? null);
    if (order !== 0) return direction === 'asc' ? order : -order;
  }
  return 0;
}

function rank(value: Scalar | null, field: string): Scalar | null {
  if (field !== '$publication' || value === null) return value;
  return ['never-published', 'modified', 'published'].indexOf(String(value));
}

function hits(state: State, found: readonly Node[]) {
  const rows = found.map((node) => state.handles.push(node) - 1);
  return { rows, sources: found.map((node) => node.row.source) };
}

function search(state: State, request: SearchRequest): SearchResult {
  const { type, world, query, sort, from, size, withTotal } = request;
  const found = nodes(state, type, world).filter((node) => matches(state, node, world, query));
  const total = withTotal ? found.length : undefined;
  const all = placed(state, found, world, sort);
  if (request.cursor === undefined) {
    const shown = all.slice(from, from + size).map(({ node }) => node);
    const facets = request.facets?.map((facet) =>
      countNaively(
        facet,
        found.map((node) => valuesBehind(state, node, world, facet)),
      ),
    );
    return { total, hits: hits(state, shown), ...defined({ facets }) };
  }
  const { after } = request.cursor;
  const rest = all.filter(({ key }) => after === null || comparePlaces(withId(sort), key, after) > 0);
  const page = rest.slice(0, size);
  const last = page.at(-1)?.key.map((value) => (typeof value === 'boolean' ? Number(value) : value));
  const next = rest.length > page.length && last !== undefined ? last : null;
  const shown = page.map(({ node }) => node);
  return { total, hits: hits(state, shown), next };
}

/** Returns the values at the ends of a facet's path, without NULL. */
function valuesBehind(
  state: State,
  node: Node,
  world: World,
  { path, field }: Pick<FacetRequest, 'path' | 'field'>,
): Scalar[] {
  let nodes = [node];
  for (const attribute of path)
    nodes = [...new Set(nodes.flatMap((each) => linked(state, each, world, attribute)))];
  return nodes.flatMap((each) => each.row.fields[field] ?? []);
}

function traverse(state: State, request: TraverseRequest): TraverseResult {
  const { world, parents, attribute, query, zone, sort, limit, countOnly } = request;
  const ofWantedKind = (child: Node): boolean => {
    const kindQuery = zone?.get((child.row as IndexedComponent).component);
    return zone === undefined || (kindQuery !== undefined && matches(state, child, world, kindQuery));
  };
  const all = parents.map((parent) => {
    const node = state.handles[parent] as Node;
    const wanted = linked(state, node, world, attribute).filter(
      (child) => ofWantedKind(child) && (query === undefined || matches(state, child, world, query)),
    );
    return sort === undefined ? wanted : sorted(state, wanted, world, sort);
  });
  if (countOnly === true) {
    return {
      children: all.map(() => hits(state, [])),
      counts: all.map((list) => list.length),
      exceeded: false,
    };
  }
  let left = limit;
  const kept = all.map((list) => {
    const taken = list.slice(0, left);
    left -= taken.length;
    return taken;
  });
  return {
    children: kept.map((list) => hits(state, list)),
    counts: kept.map((list) => list.length),
    zoneComponents: kept.map((list) => list.map((node) => (node.row as IndexedComponent).component)),
    exceeded: all.flat().length > limit,
  };
}
