import type { Client } from '@elastic/elasticsearch';
import type { Uid } from '../../../schema/content-type.ts';
import type { FaultStore } from '../../index-fault.ts';
import type { IndexSet } from '../../index-set.ts';
import { type IndexRecord, recordId } from './index-record.ts';
import { readLiveSet } from './index-sets.ts';
import { createKnownFaults, type KnownFaults } from './known-faults.ts';
import { createIndexObserver, type IndexObserver } from './observe-indices.ts';
import { progressIndex } from './progress-document.ts';
import { restoreAliases } from './restore-aliases.ts';
import { createFaultDocument, createSpaceDocument, type SpaceDocument } from './space-document.ts';

/** Parts with which a process notices that somebody else has changed the indices of a namespace, and refuses their reads. */
export type WatchedIndices = {
  readonly observer: IndexObserver;
  /** Names under which searches find the indices, with their content types. */
  readonly aliases: ReadonlyMap<string, Uid>;
  /** Faults that this process knows. */
  readonly faults: KnownFaults;
  /** Faults that the leader publishes. */
  readonly published: FaultStore;
  /** Name of the index with the progress. */
  readonly progressIndex: string;
  /** Returns the record of the indices that were written from a log. */
  record(log: string): SpaceDocument<IndexRecord>;
  /** Gives the aliases of this set to its indices only. Resolves with false if another epoch has raised the fence since. */
  restoreAliases(set: IndexSet, epoch: number): Promise<boolean>;
  /** Reads the live set, and the published faults, which are known from then on. */
  readLive(): Promise<IndexSet>;
};

/** Creates the parts for the indices with these aliases. */
export function createWatchedIndices(
  client: Client,
  space: string,
  aliases: ReadonlyMap<string, Uid>,
): WatchedIndices {
  const faults = createKnownFaults();
  const published = createFaultDocument(client, space);
  const names = new Set(aliases.keys());
  return {
    observer: createIndexObserver(client, space),
    aliases,
    faults,
    published,
    progressIndex: progressIndex(space),
    record: (log) => createSpaceDocument(client, space, recordId(log)),
    restoreAliases: (set, epoch) => restoreAliases({ client, space }, set, epoch),
    async readLive() {
      // The leader switches the aliases before it lifts a fault. In the other order this process could read the old index without the fault.
      const found = await published.read();
      const set = await readLiveSet(client, space, names);
      faults.replace(found);
      return set;
    },
  };
}
