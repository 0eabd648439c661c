import type { ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import type { TraversalPlan } from './brute-force-questions.ts';

/** Returns the parts in which two indices must agree. Each index has its own names of rows. */
export async function searchAnswer(index: ReadIndex, request: SearchRequest) {
  const { total, hits } = await index.search(request);
  return { total, sources: hits.sources.map((source) => Buffer.from(source).toString()) };
}

/** Returns the parts of a traversal in which two indices must agree. */
export async function traversalAnswer(index: ReadIndex, plan: TraversalPlan) {
  const parents = await index.search(plan.parents);
  const found = await index.traverse({ ...plan.request, parents: parents.hits.rows });
  const inZone = found.zoneComponents !== undefined && plan.inZone && plan.request.countOnly !== true;
  return {
    children: found.children.map(({ sources }) => sources.map((source) => Buffer.from(source).toString())),
    counts: found.counts,
    exceeded: found.exceeded,
    zoneComponents: inZone ? found.zoneComponents : undefined,
  };
}
