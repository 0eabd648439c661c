import type { Uid } from '../../schema/content-type.ts';
import { PART, rest } from '../../turns/slice.ts';
import { type Hits, NO_HITS, type TraverseRequest, type TraverseResult } from '../read-index.ts';
import { listCount } from './lists/row-lists.ts';
import type { QueryContext } from './match/bind-query.ts';
import { createTargetFilter, type TargetFilter } from './match/target-filter.ts';
import { bindSort, createRowSort, type RowSort } from './order/sort-rows.ts';
import { linkedInOrder, linkOrders } from './rows/links.ts';
import type { RowSetIndex, Step } from './rows/row-set.ts';
import { rowSetAt, stepFrom, zoneStepFrom } from './rows/row-sets.ts';
import { addSources, sourcesOf } from './sources/source-store.ts';

/** Links of a row that are traversed between two checks of the clock. */
const FEW_LINKS = 64;

/** Context and request of a `traverse` call. */
type Traversal = {
  readonly context: QueryContext;
  readonly request: TraverseRequest;
};

/**
 * Answers a `TraverseRequest`. `counts` are the lengths of the lists, even if the limit cut them, unless `countOnly`. If a call ends with
 * its slice, the next call continues.
 */
export function createLinkTraversal(
  { rowSets, orders, kept }: Omit<QueryContext, 'world'>,
  request: TraverseRequest,
): () => TraverseResult {
  const context = { rowSets, orders, kept, world: request.world };
  const traversal = { context, request };
  const rowSet = rowSetAt(rowSets, request.rowSet, request.world);
  const attribute = rowSet.model.attributes.get(request.attribute);
  if (attribute?.kind === 'dynamiczone') {
    if (request.query !== undefined || request.sort !== undefined) {
      throw new Error(`${request.attribute} is a dynamic zone: no query or sort applies to it`);
    }
    return createZoneTraversal(traversal, rowSet, attribute.components);
  }
  const step = stepFrom(rowSets, rowSet, request.world, request.attribute);
  return request.countOnly === true ? createCount(traversal, step) : createStepTraversal(traversal, step);
}

function createStepTraversal({ context, request }: Traversal, step: Step): () => TraverseResult {
  const { parents } = request;
  const filter = createTargetFilter(context, parents, request.query, step);
  const keys = request.sort && bindSort(context.rowSets, step.target, request.world, request.sort);
  const children: Hits[] = [];
  let left = request.limit;
  let exceeded = false;
  let current = startList();
  /** Returns a few linked rows in link order, without ending a slice. */
  const fewOf = (parent: number): Hits => {
    const linked = linkedRows(step, parent);
    exceeded = linked.length > left;
    const rows = exceeded ? linked.slice(0, left) : linked;
    left -= rows.length;
    return { rows, sources: sourcesOf(step.target, rows) };
  };
  const childrenOf = (parent: number): Hits => {
    current.linked ??= linkedRows(step, parent);
    const kept = filter === undefined ? current.linked : keepMatching(filter, current, current.linked);
    if (keys !== undefined && kept.length > 1) current.sort ??= createRowSort(keys, kept);
    const ordered = current.sort === undefined ? kept : Array.from(current.sort());
    const rows = ordered.length > left ? ordered.slice(0, left) : ordered;
    addSources(step.target, rows, current.sources);
    exceeded = ordered.length > left;
    left -= rows.length;
    return { rows, sources: current.sources };
  };
  return () => {
    filter?.prepare();
    while (children.length < parents.length) {
      const parent = parents[children.length] as number;
      const count = exceeded ? 0 : listCount(step.down.lists, parent);
      if (count === 0) children.push(NO_HITS);
      else if (count <= FEW_LINKS && filter === undefined && keys === undefined) children.push(fewOf(parent));
      else {
        children.push(childrenOf(parent));
        current = startList();
      }
      rest(1 + count);
    }
    return { children, counts: children.map(({ rows }) => rows.length), exceeded };
  };
}

/** Progress in the list of one parent. */
type ListState = {
  linked: readonly number[] | undefined;
  /** First linked row that is not filtered yet, and the rows kept so far. */
  next: number;
  readonly kept: number[];
  sort: RowSort | undefined;
  readonly sources: Uint8Array[];
};

function startList(): ListState {
  return { linked: undefined, next: 0, kept: [], sort: undefined, sources: [] };
}

function keepMatching(filter: TargetFilter, state: ListState, linked: readonly number[]): readonly number[] {
  while (state.next < linked.length) {
    const row = linked[state.next] as number;
    if (filter.keeps(row)) state.kept.push(row);
    state.next++;
    rest(1);
  }
  return state.kept;
}

function linkedRows(step: Step, parent: number): number[] {
  return linkedInOrder(step.down, parent, step.target.keys);
}

function createCount({ context, request }: Traversal, step: Step): () => TraverseResult {
  const { parents } = request;
  const filter = createTargetFilter(context, parents, request.query, step);
  const counts: number[] = [];
  let current = startList();
  const countOf = (parent: number): number => {
    if (filter === undefined) return listCount(step.down.lists, parent);
    current.linked ??= linkedRows(step, parent);
    return keepMatching(filter, current, current.linked).length;
  };
  return () => {
    filter?.prepare();
    while (counts.length < parents.length) {
      counts.push(countOf(parents[counts.length] as number));
      if (filter !== undefined) current = startList();
      rest(1);
    }
    return { children: parents.map(() => NO_HITS), counts, exceeded: false };
  };
}

type ZoneChild = {
  readonly component: Uid;
  readonly row: number;
  readonly order: number;
  readonly source: Uint8Array;
};

/** A zone's components of one kind. */
type ZoneStep = { readonly component: Uid; readonly step: Step; readonly filter: TargetFilter | undefined };

function createZoneTraversal(
  { context, request }: Traversal,
  rowSet: RowSetIndex,
  components: readonly Uid[],
): () => TraverseResult {
  const { world, parents, attribute, zone, countOnly } = request;
  const wanted = zone === undefined ? components : components.filter((component) => zone.has(component));
  const steps = wanted.map((component): ZoneStep => {
    const step = zoneStepFrom(context.rowSets, rowSet, world, { attribute, component });
    return { component, step, filter: createTargetFilter(context, parents, zone?.get(component), step) };
  });
  const lists: (readonly ZoneChild[])[] = [];
  const counts: number[] = [];
  let left = request.limit;
  let exceeded = false;
  return () => {
    for (const { filter } of steps) filter?.prepare();
    while (counts.length < parents.length) {
      const parent = parents[counts.length] as number;
      if (countOnly === true)
        counts.push(steps.reduce((sum, step) => sum + keptRows(step, parent).length, 0));
      else {
        const all = exceeded ? [] : steps.flatMap((step) => zoneChildren(step, parent));
        all.sort((a, b) => a.order - b.order);
        exceeded ||= all.length > left;
        const kept = all.slice(0, left);
        left -= kept.length;
        lists.push(kept);
        counts.push(kept.length);
      }
      rest(PART / 8);
    }
    if (countOnly === true) {
      const none = parents.map(() => []);
      return { children: parents.map(() => NO_HITS), counts, zoneComponents: none, exceeded: false };
    }
    return {
      children: lists.map((list) => ({ rows: list.map((c) => c.row), sources: list.map((c) => c.source) })),
      counts,
      zoneComponents: lists.map((list) => list.map((child) => child.component)),
      exceeded,
    };
  };
}

/** Returns the components of one kind below a row. They are few, so this work is not sliced. */
function keptRows({ step, filter }: ZoneStep, parent: number): readonly number[] {
  const linked = linkedRows(step, parent);
  return filter === undefined ? linked : linked.filter(filter.keeps);
}

function zoneChildren(zoneStep: ZoneStep, parent: number): ZoneChild[] {
  const { component, step, filter } = zoneStep;
  // This sorts the links, and orders are read in the same sequence, so it comes first.
  const rows = linkedRows(step, parent);
  const orders = linkOrders(step.down, parent);
  const linked = rows.map((row, i) => ({ row, order: orders[i] as number }));
  const kept = filter === undefined ? linked : linked.filter(({ row }) => filter.keeps(row));
  const keptOrdinals = kept.map(({ row }) => row);
  const bytes = sourcesOf(step.target, keptOrdinals);
  return kept.map(({ row, order }, i) => ({ component, row, order, source: bytes[i] as Uint8Array }));
}
