import { existsSync } from 'node:fs';
import { staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import { notInForce } from '../../shared/schema/type-definitions.ts';
import { removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { ownTypes, type SettledTypes, typesOfGraph } from '../content-types/deferred-change.ts';
import { refuseOtherDefaultLocale } from '../content-types/refuse-other-default-locale.ts';
import {
  refuseOtherTypes,
  type SettleOptions,
  settleContentTypes,
} from '../content-types/settle-content-types.ts';
import { checkTypes } from '../state/watch-types.ts';
import type { OwnBase } from './own-content.ts';
import type { VarveOptions } from './process-options.ts';

/** Resolves when the content types that this process serves are in force (see settleContentTypes). */
export async function settleTypes(
  options: VarveOptions,
  { store, claimant }: OwnBase,
): Promise<SettledTypes> {
  const { graph, generations, converted } = store;
  const { turn, generation, mayLead } = options.fleet;
  const own = ownTypes(graph, options.content, mayLead !== false);
  const { definitions } = own;
  if (turn === undefined && generation !== undefined) refuseOtherTypes(definitions, graph);
  await turn?.();
  const wait = createTypesWait(options);
  const isDeferred = store.deferred.length > 0;
  const refuse = refusalOf(options, graph);
  await settleContentTypes({ claimant, graph, definitions, isDeferred, refuse, waiting: wait.began });
  wait.over();
  if (converted !== undefined && existsSync(converted)) {
    staleDocumentsOf(graph).continueFrom(converted);
    removeDatabase(converted);
  }
  // Another leader may have made the changes while this process waited.
  if (!isDeferred || notInForce(definitions, graph.definition).length === 0) return { ...own, deferred: [] };
  generations.deferChange();
  return { ...typesOfGraph(graph), deferred: store.deferred };
}

/** Returns the check of changed definitions. A worker that replaces another one has the definitions that the other one has checked. */
function refusalOf(
  { fleet: { generation }, content: { refuseLosses } }: VarveOptions,
  graph: OwnBase['store']['graph'],
): SettleOptions['refuse'] {
  if (generation !== undefined) return () => {};
  return (changed) => {
    refuseOtherDefaultLocale(changed, graph);
    refuseLosses(graph.effectsOf(changed));
  };
}

/** Reports that this process waits because its content types are not in force, and when that is over. */
function createTypesWait({ fleet: { fleetLog }, operating }: VarveOptions) {
  let over = () => {};
  return {
    began(differences: readonly string[], leader: string): void {
      fleetLog.waiting(differences, leader);
      over = operating.conditions.watch(checkTypes(differences, leader));
    },
    over: () => over(),
  };
}
