import { assertNever } from '../../../assert-never.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { BoolQuery } from '../../bool-query.ts';
import {
  NO_HITS,
  type RowSet,
  type SortKey,
  type TraverseRequest,
  type TraverseResult,
} from '../../read-index.ts';
import type { PlacedComponents, PlacedRelation, PlacedZone } from '../layout/document-layout.ts';
import { PAGE_OF_KEYS, WINDOW } from '../layout/index-definition.ts';
import type { StoredPart } from '../layout/index-document.ts';
import type { Dsl } from '../plan/dsl.ts';
import { planAtPlace, planQuery } from '../plan/plan-query.ts';
import { planSort, sortDsl } from '../plan/plan-sort.ts';
import { countLinking, linkingRows, ownedTargets, partRowSet, partsOf, stepOf } from './linked-rows.ts';
import { hitDetails, locate, NO_SOURCE, readRows, rememberRow, rowFields } from './read-rows.ts';
import { resolveQuery } from './semi-join.ts';
import type { Session } from './session.ts';
import { sortInProcess } from './sort-in-process.ts';

type Child = { readonly key: number; readonly source: Uint8Array; readonly kind?: Uid };

/** Answers a `TraverseRequest` (see there). */
export async function traverseRows(session: Session, request: TraverseRequest): Promise<TraverseResult> {
  const step = stepOf(session, request.rowSet, request.attribute);
  switch (step.kind) {
    case 'component':
      return traverseComponents(session, request, step);
    case 'zone':
      return traverseZone(session, request, step);
    case 'relation':
      return step.linkField === undefined
        ? traverseInverse(session, request, step)
        : traverseOwned(session, request, step);
    default:
      return assertNever(step);
  }
}

function counted(counts: readonly number[]): TraverseResult {
  return { children: counts.map(() => NO_HITS), counts, exceeded: false };
}

/** Cuts the lists where all parents together reach the limit. */
function listed(
  request: TraverseRequest,
  lists: readonly (readonly Child[])[],
  inZone = false,
): TraverseResult {
  if (request.countOnly === true) {
    const result = counted(lists.map((list) => list.length));
    return inZone ? { ...result, zoneComponents: lists.map(() => []) } : result;
  }
  const { kept, exceeded } = cut(lists, request.limit);
  return {
    children: kept.map((list) => ({
      rows: list.map(({ key }) => key),
      sources: list.map(({ source }) => source),
    })),
    counts: kept.map((list) => list.length),
    ...(inZone ? { zoneComponents: kept.map((list) => list.map(({ kind = '' }) => kind)) } : {}),
    exceeded,
  };
}

function cut<T>(lists: readonly (readonly T[])[], limit: number) {
  let left = limit;
  let exceeded = false;
  const kept = lists.map((list) => {
    exceeded ||= list.length > left;
    const taken = list.slice(0, left);
    left -= taken.length;
    return taken;
  });
  return { kept, exceeded };
}

function isAsked(query: BoolQuery | undefined): query is BoolQuery {
  return query !== undefined && query.kind !== 'match_all';
}

async function askedDsl(session: Session, type: Uid, query: BoolQuery | undefined): Promise<Dsl | undefined> {
  return isAsked(query) ? resolveQuery(session, planQuery(session.layouts, type, query)) : undefined;
}

async function traverseComponents(
  session: Session,
  request: TraverseRequest,
  step: PlacedComponents,
): Promise<TraverseResult> {
  const { rowSet, parents, attribute, query, sort } = request;
  let lists = await partsOf(session, rowSet, parents, step);
  const below = partRowSet(rowSet, attribute);
  if (isAsked(query)) {
    const wanted = await matchingParts(session, below, lists.flat(), query);
    lists = lists.map((list) => list.filter(({ key }) => wanted.has(key)));
  }
  if (sort !== undefined) lists = await sortChildren(session, below, lists, sort);
  return listed(request, childrenOf(lists));
}

function childrenOf(lists: readonly (readonly StoredPart[])[]): readonly (readonly Child[])[] {
  const childOf = ({ key, source, component: kind }: StoredPart) => ({
    key,
    source: Buffer.from(source),
    kind,
  });
  return lists.map((list) => list.map(childOf));
}

/** Returns the keys of the components that match. It searches the documents that contain them. */
async function matchingParts(
  session: Session,
  rowSet: RowSet,
  parts: readonly StoredPart[],
  query: BoolQuery,
): Promise<ReadonlySet<number>> {
  const { place } = locate(session.layouts(rowSet.type), rowSet.path);
  const dsl = await resolveQuery(session, planAtPlace(session.layouts, place, query));
  const keys = [...new Set(parts.map(({ key }) => key))];
  const rows = await readRows(session, rowSet, keys, { fields: [], query: dsl });
  return new Set(rows.map(({ key }) => key));
}

async function traverseZone(
  session: Session,
  request: TraverseRequest,
  step: PlacedZone,
): Promise<TraverseResult> {
  const { rowSet, parents, attribute, query, sort, zone } = request;
  if (query !== undefined || sort !== undefined) {
    throw new Error(`${attribute} is a dynamic zone: no query or sort applies to it`);
  }
  let lists = await partsOf(session, rowSet, parents, step);
  if (zone !== undefined) {
    const wanted = new Map<Uid, ReadonlySet<number> | 'all'>();
    for (const [kind, kindQuery] of zone) {
      const parts = lists.flat().filter(({ component }) => component === kind);
      const below = partRowSet(rowSet, attribute, kind);
      wanted.set(kind, isAsked(kindQuery) ? await matchingParts(session, below, parts, kindQuery) : 'all');
    }
    lists = lists.map((list) =>
      list.filter(({ component, key }) => {
        const keys = wanted.get(component);
        return keys === 'all' || keys?.has(key) === true;
      }),
    );
  }
  return listed(request, childrenOf(lists), true);
}

async function traverseOwned(
  session: Session,
  request: TraverseRequest,
  { target }: PlacedRelation,
): Promise<TraverseResult> {
  const { rowSet, parents, attribute, query, sort, countOnly, limit, traversed: details = false } = request;
  const targets = await ownedTargets(session, rowSet, parents, attribute);
  const targetRowSet: RowSet = { type: target, path: [] };
  const everything = !isAsked(query) && sort === undefined;
  if (everything && countOnly === true) return counted(targets.map((list) => list.length));
  // Rows beyond the limit need not be read. One more row shows that there are more.
  const wanted = everything ? cut(targets, limit + 1).kept : targets;
  const keys = [...new Set(wanted.flat())];
  const listing = countOnly !== true;
  const clauses = sort === undefined || !listing ? undefined : planSort(session.layouts(target), sort);
  const inIndex = clauses && keys.length <= PAGE_OF_KEYS ? sortDsl(clauses) : undefined;
  const dsl = await askedDsl(session, target, query);
  const read = await readRows(session, targetRowSet, keys, {
    fields: listing ? rowFields(details) : [],
    query: dsl,
    sort: inIndex,
  });
  const rows = new Map<number, Child>();
  for (const { key, details: owned, source } of read) {
    if (details && listing) rememberRow(session, targetRowSet, key, owned);
    rows.set(key, { key, source });
  }
  const lists = wanted.map((list) => list.flatMap((key) => rows.get(key) ?? []));
  if (sort === undefined || !listing) return listed(request, lists);
  if (inIndex === undefined) return listed(request, await sortChildren(session, targetRowSet, lists, sort));
  return listed(request, inOrder(lists, read));
}

type Keyed = { readonly key: number };

function inOrder<Row extends Keyed>(lists: readonly (readonly Row[])[], sorted: readonly Keyed[]): Row[][] {
  const ranks = new Map(sorted.map(({ key }, rank) => [key, rank]));
  const rankOf = ({ key }: Keyed) => ranks.get(key) ?? ranks.size;
  return lists.map((list) => [...list].sort((a, b) => rankOf(a) - rankOf(b)));
}

async function sortChildren<Row extends Keyed>(
  session: Session,
  rowSet: RowSet,
  lists: readonly (readonly Row[])[],
  sort: readonly SortKey[],
): Promise<Row[][]> {
  const keys = [...new Set(lists.flat().map(({ key }) => key))];
  return inOrder(lists, await sortInProcess(session, rowSet, keys, sort));
}

async function traverseInverse(
  session: Session,
  request: TraverseRequest,
  step: PlacedRelation,
): Promise<TraverseResult> {
  const { parents, query, sort, countOnly, limit, traversed: details = false } = request;
  const { layouts } = session;
  const dsl = await askedDsl(session, step.target, query);
  if (countOnly === true) return counted(await countLinking(session, parents, step, dsl));
  const clauses = sort && planSort(layouts(step.target), sort);
  const fields = details ? ['src', 'parts'] : ['src'];
  // More rows than the limit are not read: the request is refused.
  const most = Math.min(limit, WINDOW);
  const selection = { fields, query: dsl, sort: clauses ? sortDsl(clauses) : undefined, most };
  const linking = await linkingRows(session, parents, step, selection);
  const rowSet: RowSet = { type: step.target, path: [] };
  let lists = linking.lists.map((list) => {
    const ordered = sort === undefined ? [...list].sort((a, b) => a.order - b.order || a.key - b.key) : list;
    return ordered.map(({ key, hit }): Child => {
      if (details) rememberRow(session, rowSet, key, hitDetails(hit));
      return { key, source: hit.source ?? NO_SOURCE };
    });
  });
  if (clauses === null) lists = await sortChildren(session, rowSet, lists, sort ?? []);
  const result = listed(request, lists);
  return linking.incomplete ? { ...result, exceeded: true } : result;
}
