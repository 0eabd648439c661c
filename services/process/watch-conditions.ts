import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Operating } from '../operating/operating.ts';
import type { DocumentContents } from '../read-side/read-side.ts';
import type { ServedGenerations } from '../read-side/served-generations.ts';
import { isMade } from '../rebuild/cancel-rebuild.ts';
import { checkBacklog, checkParked } from '../state/watch-documents.ts';
import { checkDisk, checkHalt, checkLeader, checkLog } from '../state/watch-fleet.ts';
import { checkIndex } from '../state/watch-index.ts';
import { checkRebuild } from '../state/watch-rebuild.ts';
import type { RunningContent } from './run-content.ts';

type Watched = Pick<RunningContent, 'fleet' | 'halt' | 'diskWatch'> & {
  readonly data: string;
  readonly log: Pick<EventStore, 'lastPosition'>;
  readonly generations: Pick<ServedGenerations, 'store'>;
  readonly registry: Pick<SchemaRegistry, 'contentTypes'>;
  /** Absent: the index is in this process. */
  readonly documents: Pick<DocumentContents, 'watch' | 'status' | 'faults'> | undefined;
};

/** Adds the checks of a process that has a data directory. */
export function watchConditions({ conditions, role }: Operating, watched: Watched): void {
  const { data, log, fleet, halt, diskWatch, generations, registry, documents } = watched;
  const answersReads = role !== 'project';
  const checks = [
    checkLog(log),
    checkLeader(fleet, !answersReads),
    checkHalt(halt.event),
    checkDisk(diskWatch.fullDisk),
    checkRebuild(generations.store.rebuild, () => isMade(data)),
    ...(documents === undefined
      ? []
      : [
          checkIndex({ ...documents, types: registry.contentTypes.size }, answersReads),
          checkParked(documents.status),
          checkBacklog(documents.status),
        ]),
  ];
  for (const check of checks) conditions.watch(check);
}
