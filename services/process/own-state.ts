import { appliedUpTo } from '../../projections/graph/projector.ts';
import { registerGauges, watchLead } from '../operating/operating.ts';
import type { Purger } from '../purge/open-purger.ts';
import { watchGenerations } from '../read-side/watch-generations.ts';
import { readState, type State } from '../state/state.ts';
import { reachable } from '../state/watch-index.ts';
import type { Webhooks } from '../webhooks/open-webhooks.ts';
import type { OwnParts } from './own-operator.ts';
import type { VarveOptions } from './process-options.ts';
import { watchConditions } from './watch-conditions.ts';

/** Reports the state of the process at every scrape, and whether it is ready. */
export function watchOwn(
  { data: { data }, operating, fleet: { mayLead }, worker: { processes } }: VarveOptions,
  { base, content, running }: OwnParts,
): void {
  const { log, graph, generations } = base.store;
  const { registry, index, documents } = content;
  watchGenerations(operating.metrics, generations.store, mayLead);
  watchLead(operating, running.fleet);
  const applied = () => appliedUpTo(graph, index.position());
  const { lagSeconds } = registerGauges(operating, {
    log,
    index,
    registry,
    applied,
    documents: documents?.status,
    reachable: documents && reachable(documents.watch),
  });
  processes.serving({ position: index.position, lagSeconds, epoch: running.fleet.epoch });
  operating.conditions.watch(processes.keyIsShared);
  watchConditions(operating, { data, log, generations, registry, documents, ...running });
}

/** Reads the state of the log's processes, and what this one has to deliver. */
export function stateOfOwn(
  { worker: { processes } }: VarveOptions,
  { content }: OwnParts,
  { purges, webhooks }: { readonly purges: Purger | undefined; readonly webhooks: Webhooks | undefined },
): Promise<State> {
  return readState({
    processes: processes.list,
    cluster: content.documents?.watch,
    webhooks: () => webhooks?.backlog() ?? null,
    purges: () => purges?.waiting() ?? null,
  });
}
