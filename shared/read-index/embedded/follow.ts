import type { Uid } from '../../schema/content-type.ts';
import type { BoolQuery } from '../bool-query.ts';
import type { FollowRequest, FollowResult, Hits } from '../read-index.ts';
import { bindQuery, type QueryContext } from './bind-query.ts';
import { hasBit } from './bits.ts';
import { linkedInOrder, linkOrders } from './links.ts';
import { listCount } from './row-lists.ts';
import { borrowBits, type RowSpaceIndex, releaseBits, type Step } from './row-space.ts';
import { bindSort, sortRows } from './sort-rows.ts';
import { type SourceStore, sourcesOf } from './source-store.ts';
import { spaceAt, stepFrom } from './spaces.ts';
import { spend } from './time-limit.ts';

const NO_HITS: Hits = Object.freeze({ rows: [], sources: [] });

/** Answers a `FollowRequest`; see there. `counts` are the lengths of the lists, also when the limit cut them, unless `countOnly`. */
export function followLinks(
  context: QueryContext,
  sources: SourceStore,
  request: FollowRequest,
): FollowResult {
  const space = spaceAt(context.spaces, request.space, request.world);
  const attribute = space.model.attributes.get(request.attribute);
  if (attribute?.kind === 'dynamiczone') {
    if (request.query !== undefined || request.sort !== undefined) {
      throw new Error(`${request.attribute} is a dynamic zone: no query or sort applies to it`);
    }
    return followZone(context, sources, request, space, attribute.components);
  }
  const step = stepFrom(context.spaces, space, request.world, request.attribute);
  return followStep(context, sources, request, step);
}

function followStep(
  context: QueryContext,
  sources: SourceStore,
  request: FollowRequest,
  step: Step,
): FollowResult {
  const keep = targetFilter(context, request.parents, request.query, step);
  const { parents, countOnly } = request;
  if (countOnly === true) {
    const counts = parents.map((parent) =>
      keep === undefined ? listCount(step.down.lists, parent) : linkedRows(step, parent).filter(keep).length,
    );
    return { children: parents.map(() => NO_HITS), counts, exceeded: false };
  }
  const keys = request.sort && bindSort(context.spaces, step.target, request.world, request.sort);
  const children: Hits[] = [];
  let left = request.limit;
  let exceeded = false;
  for (const parent of parents) {
    spend(1);
    if (exceeded || listCount(step.down.lists, parent) === 0) {
      children.push(NO_HITS);
      continue;
    }
    const linked = linkedRows(step, parent);
    const kept = keep === undefined ? linked : linked.filter(keep);
    const ordered = keys === undefined || kept.length < 2 ? kept : Array.from(sortRows(keys, kept));
    exceeded = ordered.length > left;
    const rows = exceeded ? ordered.slice(0, left) : ordered;
    left -= rows.length;
    children.push({ rows, sources: sourcesOf(sources, step.target, rows) });
  }
  return { children, counts: children.map(({ rows }) => rows.length), exceeded };
}

function linkedRows(step: Step, parent: number): number[] {
  return linkedInOrder(step.down, parent, step.target.keys);
}

/** Whether a target is wanted: asked of each or, where many are linked, looked up in the set of all that match. */
function targetFilter(
  context: QueryContext,
  parents: readonly number[],
  query: BoolQuery | undefined,
  step: Step,
): ((row: number) => boolean) | undefined {
  if (query === undefined || query.kind === 'match_all') return undefined;
  const matcher = bindQuery(context, step.target, query);
  let linked = 0;
  for (const parent of parents) linked += listCount(step.down.lists, parent);
  if (linked * matcher.testCost < matcher.cost) return matcher.test;
  const borrowed = borrowBits(step.target);
  matcher.collect(borrowed);
  const matched = borrowed.slice();
  releaseBits(step.target, borrowed);
  return (row) => hasBit(matched, row);
}

type ZoneChild = {
  readonly component: Uid;
  readonly row: number;
  readonly order: number;
  readonly source: Uint8Array;
};

function followZone(
  context: QueryContext,
  sources: SourceStore,
  request: FollowRequest,
  space: RowSpaceIndex,
  components: readonly Uid[],
): FollowResult {
  const { parents, zone } = request;
  const wanted = zone === undefined ? components : components.filter((component) => zone.has(component));
  const steps = wanted.map((component) => {
    const step = stepFrom(context.spaces, space, request.world, request.attribute, component);
    return { component, step, keep: targetFilter(context, parents, zone?.get(component), step) };
  });
  if (request.countOnly === true) {
    const counts = parents.map((parent) =>
      steps.reduce((sum, { step, keep }) => {
        if (keep === undefined) return sum + listCount(step.down.lists, parent);
        return sum + linkedRows(step, parent).filter(keep).length;
      }, 0),
    );
    const none = parents.map(() => []);
    return { children: parents.map(() => NO_HITS), counts, zoneComponents: none, exceeded: false };
  }
  let left = request.limit;
  let exceeded = false;
  const lists = parents.map((parent) => {
    if (exceeded) return [];
    const all = steps.flatMap(({ component, step, keep }) =>
      zoneChildren(sources, component, step, parent, keep),
    );
    all.sort((a, b) => a.order - b.order);
    exceeded = all.length > left;
    const kept = all.slice(0, left);
    left -= kept.length;
    return kept;
  });
  return {
    children: lists.map((list) => ({ rows: list.map((c) => c.row), sources: list.map((c) => c.source) })),
    counts: lists.map((list) => list.length),
    zoneComponents: lists.map((list) => list.map((child) => child.component)),
    exceeded,
  };
}

function zoneChildren(
  sources: SourceStore,
  component: Uid,
  step: Step,
  parent: number,
  keep: ((row: number) => boolean) | undefined,
): ZoneChild[] {
  // Puts the links in order, which the orders are read in.
  const rows = linkedRows(step, parent);
  const orders = linkOrders(step.down, parent);
  const linked = rows.map((row, i) => ({ row, order: orders[i] as number }));
  const kept = keep === undefined ? linked : linked.filter(({ row }) => keep(row));
  const bytes = sourcesOf(
    sources,
    step.target,
    kept.map(({ row }) => row),
  );
  return kept.map(({ row, order }, i) => ({ component, row, order, source: bytes[i] as Uint8Array }));
}
