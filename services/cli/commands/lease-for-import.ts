import { catchUpOrThrow } from '../../../projections/graph/projector.ts';
import { type Lead, leadOf } from '../../../shared/fleet/lease.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { settleContentTypes } from '../../content-types/settle-content-types.ts';
import { type Claimant, returnLease } from '../../fleet/claim-lease.ts';
import { readLease } from '../../fleet/lease-view.ts';
import { requireLease } from '../../fleet/require-lease.ts';
import type { ContentStore } from '../../process/content-store.ts';

export type ImportLease = Lead & {
  /** Steps down after the graph has caught up with the import. Rejects with a message if the lease was lost. */
  giveBack(): Promise<void>;
};

export const LEAD_LOST =
  'another process took over while this one was stopped: run the import again, imported documents are not written twice';

export type ImportLeaseOptions = {
  readonly store: Pick<ContentStore, 'log' | 'graph'>;
  readonly definitions: readonly TypeDefinition[];
  /** At its address other processes see that it exists. */
  readonly claimant: Claimant;
};

/**
 * Makes this process the leader of its log, because only a leader writes, and brings its content types into force.
 * Rejects with a message if there is another leader, or the log has an event that this program cannot read.
 */
export async function leaseForImport(options: ImportLeaseOptions): Promise<ImportLease> {
  const { store, definitions, claimant } = options;
  const { log, graph } = store;
  const { space, owner } = claimant;
  // Before the claim, which would end the lease of a process that can read the log.
  await catchUpOrThrow(log, graph);
  await requireLease(claimant);
  await settleContentTypes({ claimant, graph, definitions, waiting: () => {} });
  const lease = await readLease(log, space);
  if (lease.leader?.owner !== owner) throw new Error(LEAD_LOST);
  const lead = leadOf(space, lease);
  return {
    ...lead,
    async giveBack() {
      if (!(await log.checksConditions()) && graph.epochAt(graph.position() + 1n) !== lead.epoch) {
        throw new Error(
          'another process took over while this one was stopped: later events of the import have no effect. Stop that process and import into a new log',
        );
      }
      await returnLease(claimant, lease);
    },
  };
}
