import { announceProgress, type ProgressAnnouncer } from '../../projections/announce-progress.ts';
import { type IndexWriter, startIndexWriter, type WriterReport } from '../../projections/index-writer.ts';
import { createPositionGate } from '../../shared/position-gate.ts';
import type { DocumentRole, DocumentRoleOptions } from './document-role.ts';
import { persistently } from './persistently.ts';
import type { Report } from './report.ts';

export type LeadDocumentsOptions = DocumentRoleOptions & { readonly epoch: number };

/**
 * The role of the one process that writes. It begins with the documents that are stale by its own account: what the leader before
 * it wrote and did not announce any more is written once more, which changes nothing.
 */
export function leadDocuments(options: LeadDocumentsOptions): DocumentRole {
  const stopping = new AbortController();
  const started = Promise.withResolvers<IndexWriter>();
  let writer: IndexWriter | undefined;
  let announcer: ProgressAnnouncer | undefined;
  const gate = createPositionGate(() => writer?.shown() ?? 0n);
  const ready = takeOver({
    ...options,
    signal: stopping.signal,
    start() {
      writer = startWriter(options, () => {
        gate.advanced();
        announcer?.advanced();
      });
      started.resolve(writer);
      return writer;
    },
    announce() {
      if (writer !== undefined) announcer = startAnnouncer(options, writer);
    },
  });
  const ended = ready
    .catch(() => {})
    .then(() => writer?.done)
    .finally(() => announcer?.close());
  return {
    ready,
    writes: true,
    wake: () => writer?.wake(),
    visible: async (position) => (await started.promise).visible(position),
    shows: gate.reached,
    written: () => writer?.status().written ?? 0,
    stop() {
      stopping.abort();
      writer?.stop();
    },
    async close() {
      stopping.abort();
      await writer?.close();
      await ended;
    },
    ended,
  };
}

type Takeover = LeadDocumentsOptions & {
  readonly signal: AbortSignal;
  readonly start: () => IndexWriter;
  /** Tells other processes from now on how far the documents are. */
  readonly announce: () => void;
};

async function takeOver(takeover: Takeover): Promise<void> {
  const { isWhole, signal, start, announce } = takeover;
  if (isWhole) start();
  else await makeWhole(takeover);
  // Only now: what was announced while the indices were made would be read from the old ones.
  if (!signal.aborted) announce();
}

/** Makes and fills the indices that are missing. */
async function makeWhole({ cluster, graph, stale, log, report, signal, start }: Takeover): Promise<void> {
  const anew = !stale.isComplete();
  await persistently(report, signal, cluster.ready);
  const indices = await persistently(report, signal, () => cluster.openIndices({ log, anew }));
  if (indices === undefined || signal.aborted) return;
  const { toBuild } = indices;
  if (toBuild.length > 0 || anew) stale.markAll(toBuild);
  const writer = start();
  if (toBuild.length > 0) {
    report.info({ types: toBuild, documents: writer.status().backlog }, 'building the indices');
    await Promise.race([writer.atRest(), writer.done]);
    await persistently(report, signal, indices.promote);
  } else {
    await Promise.race([writer.visible(graph.position()), writer.done]);
  }
  await persistently(report, signal, cluster.ready);
  await persistently(report, signal, cluster.createWriter().refresh);
}

function startWriter({ cluster, graph, report }: LeadDocumentsOptions, progressed: () => void): IndexWriter {
  const index = cluster.createWriter();
  return startIndexWriter({ graph, index, report: reportWriter(report), progressed });
}

function startAnnouncer(
  { cluster, stale, log, report, epoch }: LeadDocumentsOptions,
  writer: IndexWriter,
): ProgressAnnouncer {
  const announcer = announceProgress({
    store: cluster.progress(log),
    writer,
    parked: stale.parked,
    epoch,
    report: ({ message }) =>
      report.warn({ reason: message }, 'the progress cannot be announced, trying again'),
  });
  announcer.advanced();
  return announcer;
}

function reportWriter(report: Report): (what: WriterReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'stuck':
        report.warn({ reason: what.reason }, 'Elasticsearch takes no documents, trying again');
        break;
      case 'going on':
        report.warn({}, 'Elasticsearch takes documents again');
        break;
      case 'refused':
        for (const document of what.documents) report.error(document, 'Elasticsearch refuses a document');
    }
  };
}
