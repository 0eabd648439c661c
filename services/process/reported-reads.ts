import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Lifetime } from '../delivery/lifetimes.ts';
import type { Purged, TaggingOptions } from '../delivery/tagging.ts';
import {
  type AnsweringReporter,
  type ReportAnsweringOptions,
  reportAnswering,
} from '../purge/report-answering.ts';
import type { DocumentContents } from '../read-side/read-side.ts';

/** Documents that the leader writes. The leader may be another process. */
export type ReportedDocuments = Pick<DocumentContents, 'answering' | 'shown' | 'look'>;

/** The reads of a process from such documents. The process reports to the leader which position they show. */
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
    /** Returns whether caches may keep answers, and the position that the answers show. */
    keeping,
    /** Starts to report. Before that, caches ask Varve each time. */
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
    /** Called with new events of the log. */
    grown(events: readonly StoredEvent[]): void {
      const last = events.at(-1);
      if (last !== undefined) reporter?.expect(last.position);
    },
    async close(): Promise<void> {
      await reporter?.close();
    },
  };
}
