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
export type ReportedReads = ReturnType<typeof createReportedReads>;

type StartOptions = Omit<ReportAnsweringOptions, 'processes' | 'shown'> & {
  readonly access: Pick<AccessControl, 'applied'>;
};

/** Creates reads that are not reported: until `start` no leader purges caches of their answers. */
export function createReportedReads(lifetime: Lifetime, documents: ReportedDocuments) {
  let reporter: AnsweringReporter | undefined;
  const purged: Purged = {
    lifetime,
    // An answer ranked by words depends on documents that no tag names.
    isRanked: false,
    isPurging: () => reporter?.keeping() === 'kept',
    isSilent: () => reporter?.keeping() === 'silent',
  };
  const keeping: Pick<TaggingOptions, 'position' | 'purged'> = { position: documents.shown, purged };
  return {
    /** Whether caches may keep answers, and the position that these show. */
    keeping,
    /** Begins. Before that caches ask each time. */
    start({ access, ...options }: StartOptions): void {
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
    /** The log has these events. */
    grown(events: readonly StoredEvent[]): void {
      const last = events.at(-1);
      if (last !== undefined) reporter?.expect(last.position);
    },
    async close(): Promise<void> {
      await reporter?.close();
    },
  };
}
