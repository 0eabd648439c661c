import { documentName, type ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import {
  announceProgress,
  type ProgressAnnouncer,
} from '../../projections/index-writer/announce-progress.ts';
import { type IndexWriter, startIndexWriter } from '../../projections/index-writer/index-writer.ts';
import { createCondition } from '../../shared/condition.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { type BeginWritingOptions, type BegunWriting, beginWriting } from './begin-writing.ts';
import type { Announcing, DocumentRole } from './document-role.ts';
import { createDualWrite } from './dual-write.ts';
import { type MakeAgainOptions, makeAgain } from './make-again.ts';
import { reportWriter } from './report.ts';
import { retryOutages } from './retry-outages.ts';
import { type IndexWatch, watchIndices } from './watch-indices.ts';

export type LeadDocumentsOptions = Omit<BeginWritingOptions, 'signal' | 'start' | 'showsWritten'> & {
  /** Called when searches show documents that have changed without an event. */
  readonly repaired: () => void;
};

/**
 * Role of the one process that writes. It begins with its own stale documents. The previous leader may have written some of them without
 * publishing that. They are written again, which changes nothing. While this process fills new indices, its reads go to other indices, and
 * no position counts as shown.
 */
export function leadDocuments(options: LeadDocumentsOptions): DocumentRole {
  const stopping = new AbortController();
  const { signal } = stopping;
  const started = Promise.withResolvers<Pick<MakeAgainOptions, 'writer' | 'index'>>();
  let writer: IndexWriter | undefined;
  const moved = createCondition();
  const { epoch, indices } = options;
  const announcing = createAnnouncing(options, started.promise);
  const repair = () => void writer?.caughtUp().then(options.repaired, () => {});
  const refused = watchRefused(options.stale.parked, repair);
  const start = (set: IndexSet) => {
    const index = createDualWrite(options.cluster.createWriter(set));
    writer = startWriter(options, refused, index, () => {
      refused.written();
      moved.check();
      announcing.advanced();
    });
    started.resolve({ writer, index });
    return { writer, index };
  };
  const written = () => writer?.shown() ?? 0n;
  const showsWritten = (position: bigint, ms: number) => moved.until(() => position <= written(), ms);
  const reads = createOwnReads(written);
  const isShowing = (position: bigint) => () => position <= reads.shown();
  const watch = watchWritten(options, { signal, announcing, repair, started: started.promise });
  const ready = beginWriting({ ...options, signal, start, showsWritten }).then(async (begun) => {
    if (begun !== undefined) await beginWatch(watch, begun, { ...options, signal });
    if (begun === undefined || signal.aborted || writer === undefined) return false;
    reads.begin(writer);
    moved.check();
    // Publishing begins only now: readers would expect earlier positions in the old indices.
    if (indices.kind === 'live' || (indices.kind === 'next' && epoch > 0)) announcing.start();
    return true;
  });
  const ended = ready
    .catch(() => false)
    .then(() => writer?.done)
    .finally(async () => void (await announcing.stop()));
  return {
    ready,
    writes: true,
    wake: () => writer?.wake(),
    visible: reads.visible,
    repairing: repair,
    shows: (position, timeoutMs) => moved.until(isShowing(position), timeoutMs),
    shown: reads.shown,
    written: () => writer?.status().written ?? 0,
    announcing,
    stop() {
      stopping.abort();
      options.stale.disregard([]);
      reads.end();
      writer?.stop();
    },
    async close() {
      stopping.abort();
      reads.end();
      await writer?.close();
      await ended;
    },
    ended,
  };
}

type WatchedWriting = {
  readonly signal: AbortSignal;
  readonly announcing: AnnouncingWriter;
  readonly repair: () => void;
  readonly started: Promise<Pick<MakeAgainOptions, 'writer' | 'index'>>;
};

/** Watches the indices that this process writes, and makes lost ones again. */
function watchWritten(
  options: LeadDocumentsOptions,
  { signal, announcing, repair, started }: WatchedWriting,
): IndexWatch {
  return watchIndices({
    ...options,
    signal: AbortSignal.any([signal, announcing.signal]),
    announceAgain: announcing.again,
    async makeAgain(types, making) {
      // The documents change without an event.
      await makeAgain(types, { ...options, ...(await started) }, making).finally(repair);
    },
  });
}

/** Milliseconds for which reads of all types wait when the index of some was lost. */
const MADE_WITHIN_MS = 2_000;

async function beginWatch(
  watch: IndexWatch,
  { set, lost }: BegunWriting,
  { report, signal, epoch, indices }: Omit<BeginWritingOptions, 'start' | 'showsWritten'>,
): Promise<void> {
  // Nobody watches indices that searches do not find.
  if (epoch === 0 || indices.kind === 'other') return;
  await retryOutages(report, signal, () => watch.begin(set, lost));
  if (lost.length > 0) await watch.made(MADE_WITHIN_MS);
}

/** Reads of the process that writes. They show its writes only between `begin` and `end`. */
function createOwnReads(written: () => bigint) {
  const begun = Promise.withResolvers<IndexWriter>();
  let isReading = false;
  return {
    /** Records that reads go to the written indices from now on. */
    begin(writer: IndexWriter) {
      isReading = true;
      begun.resolve(writer);
    },
    end() {
      isReading = false;
    },
    shown: () => (isReading ? written() : 0n),
    /** Resolves when reads show a write. */
    visible: async (position: bigint) => (await begun.promise).visible(position),
  };
}

function startWriter(
  { graph, report }: LeadDocumentsOptions,
  refused: RefusedDocuments,
  index: DocumentIndex,
  progressed: () => void,
): IndexWriter {
  const say = reportWriter(report);
  return startIndexWriter({
    graph,
    index,
    report(what) {
      if (what.kind === 'refused') refused.refused();
      say(what);
    },
    progressed,
  });
}

type AnnouncingWriter = Announcing & {
  readonly advanced: () => void;
  /** Publishes the progress again, even if it is the same. */
  readonly again: () => void;
  /** Aborted when this process stops to publish. */
  readonly signal: AbortSignal;
};

function createAnnouncing(
  { progress, stale, report, epoch }: LeadDocumentsOptions,
  started: WatchedWriting['started'],
): AnnouncingWriter {
  let announcer: ProgressAnnouncer | undefined;
  let isWanted = false;
  const ending = new AbortController();
  return {
    signal: ending.signal,
    again: () => announcer?.again(),
    advanced: () => announcer?.advanced(),
    start() {
      isWanted = true;
      // Never rejects: a writer is started, or nothing happens.
      void started.then(({ writer }) => {
        if (!isWanted || announcer !== undefined) return;
        announcer = announceProgress({
          store: progress,
          writer,
          stale,
          epoch,
          report: ({ message }) =>
            report.warn({ reason: message }, 'the progress cannot be published: trying again'),
        });
        announcer.advanced();
      });
    },
    async stop() {
      isWanted = false;
      ending.abort();
      const stopped = announcer;
      announcer = undefined;
      return (await stopped?.close()) ?? 0n;
    },
  };
}

/** Documents that Elasticsearch refused. When one is accepted later, it shows changes whose tags were purged long ago. */
type RefusedDocuments = ReturnType<typeof watchRefused>;

/** `accepted` is called when a document is no longer refused. It may still have to be written. */
function watchRefused(parked: Pick<ParkedDocuments, 'all'>, accepted: () => void) {
  const namesNow = () => new Set(parked.all().map(documentName));
  let known = namesNow();
  return {
    /** Records that Elasticsearch refused a document. */
    refused() {
      known = new Set([...known, ...namesNow()]);
    },
    /** Records that documents were written: some of them may have been refused before. */
    written() {
      if (known.size === 0) return;
      const now = namesNow();
      const isAccepted = [...known].some((name) => !now.has(name));
      known = now;
      if (isAccepted) accepted();
    },
  };
}
