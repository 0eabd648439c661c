import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { AnsweringProcesses } from '../../shared/read-index/answering-processes.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Lifetime } from '../delivery/lifetimes.ts';
import type { Purged, TaggingOptions } from '../delivery/tagging.ts';
import {
  type AnsweringReporter,
  type ReportAnsweringOptions,
  reportAnswering,
} from '../purge/report-answering.ts';

/** Documents that the leader writes, which may be another process. */
export type ReportedDocuments = {
  /** Where processes report themselves. */
  readonly answering: AnsweringProcesses;
  /** Position that searches show, as far as it is known here. */
  readonly shown: () => bigint;
  /** Resolves with the same after it was read. */
  readonly look: () => Promise<bigint>;
};

/** Reads of a process from such documents: it reports to the leader what they show. */
export type ReportedReads = {
  /** Whether caches may keep answers, and the position that these show. */
  readonly keeping: Pick<TaggingOptions, 'position' | 'purged'>;
  /** Begins. Before that caches ask each time. */
  start(
    options: Omit<ReportAnsweringOptions, 'processes' | 'shown'> & {
      readonly access: Pick<AccessControl, 'applied'>;
    },
  ): void;
  /** The log has these events. */
  grown(events: readonly StoredEvent[]): void;
  close(): Promise<void>;
};

/** Creates reads that are not reported: until `start` no leader purges caches of their answers. */
export function createReportedReads(lifetime: Lifetime, documents: ReportedDocuments): ReportedReads {
  let reporter: AnsweringReporter | undefined;
  const purged: Purged = {
    lifetime,
    // An answer ranked by words depends on documents that no tag names.
    isRanked: false,
    isPurging: () => reporter?.keeping() === 'kept',
    isSilent: () => reporter?.keeping() === 'silent',
  };
  return {
    keeping: { position: documents.shown, purged },
    start({ access, ...options }) {
      reporter = reportAnswering({
        ...options,
        processes: documents.answering,
        async shown() {
          const position = await documents.look();
          await access.applied(position);
          return position;
        },
      });
    },
    grown(events) {
      const last = events.at(-1);
      if (last !== undefined) reporter?.expect(last.position);
    },
    async close() {
      await reporter?.close();
    },
  };
}
