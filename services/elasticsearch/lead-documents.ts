import {
  announceProgress,
  type ProgressAnnouncer,
} from '../../projections/index-writer/announce-progress.ts';
import { type IndexWriter, startIndexWriter } from '../../projections/index-writer/index-writer.ts';
import { createCondition } from '../../shared/condition.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { ServedIndices } from '../read-side/read-side.ts';
import type { Announcing, DocumentRole, DocumentRoleOptions } from './document-role.ts';
import { createDualWrite, type DualWriteIndex } from './dual-write.ts';
import { createLeadTags, type LeadTags } from './lead-tags.ts';
import { reportWriter } from './report-writer.ts';
import { retryOutages } from './retry-outages.ts';
import type { TagFeed } from './tag-feed.ts';
import { writeOnly } from './write-only.ts';

export type LeadDocumentsOptions = DocumentRoleOptions & {
  readonly epoch: number;
  /** Indices to write. Creates missing ones of those that searches find. In epoch 0 this process does not lead yet. */
  readonly indices: ServedIndices;
  readonly tagFeed: TagFeed;
};

/**
 * Role of the one process that writes. It begins with its own stale documents: those that the previous leader wrote
 * without announcing them are written again, which changes nothing.
 */
export function leadDocuments(options: LeadDocumentsOptions): DocumentRole {
  const stopping = new AbortController();
  const { signal } = stopping;
  const started = Promise.withResolvers<IndexWriter>();
  let writer: IndexWriter | undefined;
  const moved = createCondition();
  const { epoch } = options;
  const tags = createLeadTags({ ...options, signal });
  const announcing = createAnnouncing(options, started.promise);
  const start = () => {
    const index = createDualWrite(options.cluster.createWriter());
    writer = startWriter(options, tags, index, () => {
      moved.check();
      announcing.advanced();
    });
    started.resolve(writer);
    return { writer, index };
  };
  const shown = () => writer?.shown() ?? 0n;
  const isShowing = (position: bigint) => () => position <= shown();
  const shows = (position: bigint, timeoutMs: number) => moved.until(isShowing(position), timeoutMs);
  const ready = takeOver({ ...options, signal, tags, start, shows }).then(() => {
    // Only now: positions announced earlier would be read from the old indices.
    const { indices } = options;
    const isLive = indices.kind === 'live' || (indices.kind === 'next' && epoch > 0);
    if (signal.aborted || !isLive) return;
    announcing.start();
    void tags.open();
  });
  const ended = ready
    .catch(() => {})
    .then(() => writer?.done)
    .finally(async () => void (await announcing.stop()));
  return {
    ready,
    writes: true,
    wake: () => writer?.wake(),
    visible: async (position) => (await started.promise).visible(position),
    ceaseTags: () => tags.cease(() => moved.until(isShowing(options.graph.position()))),
    shows,
    shown,
    look: async () => {},
    written: () => writer?.status().written ?? 0,
    announcing: {
      start: announcing.start,
      stop() {
        tags.release();
        return announcing.stop();
      },
    },
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
  readonly tags: LeadTags;
  readonly start: () => { readonly writer: IndexWriter; readonly index: DualWriteIndex };
  readonly shows: (position: bigint, timeoutMs: number) => Promise<boolean>;
};

async function takeOver(takeover: Takeover): Promise<void> {
  const { cluster, graph, stale, indices, isWhole, signal, report, start, epoch } = takeover;
  const refusal = await retryOutages(report, signal, takeover.own);
  if (refusal !== undefined) throw new Error(refusal);
  // Before it asks which are live: from then on no previous leader can switch the aliases. Epoch 0 belongs to no
  // leader.
  const isNewest =
    epoch === 0 ||
    (await retryOutages(report, signal, () => cluster.fence.raise(epoch, () => takeover.isNewest(epoch))));
  // This process will learn of the new leader in a moment.
  if (isNewest !== true || signal.aborted) return;
  // Before the first document: an earlier leader's tags are not those of all changes from now on.
  if (!(await takeover.tags.begin())) return;
  if (indices.kind !== 'live') {
    cluster.use(indices.set);
    if (!stale.isComplete()) stale.markAll([...graph.registry().contentTypes.keys()]);
    return writeSet(takeover);
  }
  // Complete indices are useless unless we know which documents are stale.
  if (!isWhole || !stale.isComplete()) return makeWhole(takeover);
  // The previous leader may have switched to another generation.
  cluster.indices.release();
  const live = await retryOutages(report, signal, cluster.indices.refresh);
  if (live === undefined || signal.aborted) return;
  cluster.use(live);
  start();
}

const LOOK_EVERY_MS = 500;

/** Writes a set that is not live, until searches see all of it. Then switches the aliases to it if this process is the leader. */
async function writeSet(takeover: Takeover): Promise<void> {
  const { indices, epoch, graph, cluster, signal, start, shows } = takeover;
  const isNext = indices.kind === 'next';
  if (isNext && epoch > 0) await indices.inherit();
  const { writer, index } = start();
  if (!isNext) return;
  const position = graph.position();
  while (
    !signal.aborted &&
    !(await Promise.race([shows(position, LOOK_EVERY_MS), writer.done.then(() => false)]))
  );
  if (signal.aborted || epoch === 0) return;
  const earlier = await indices.switch(epoch);
  if (earlier !== undefined)
    index.alsoWrite(writeOnly(cluster.createWriter(earlier.set), earlier.writes), earlier.forMs);
}

/** Makes and fills the missing indices. */
async function makeWhole(takeover: Takeover): Promise<void> {
  const { cluster, graph, stale, log, report, signal, start, epoch } = takeover;
  const replaceAll = !stale.isComplete();
  await retryOutages(report, signal, cluster.ready);
  const indices = await retryOutages(report, signal, () => cluster.openIndices({ log, replaceAll, epoch }));
  if (indices === undefined || signal.aborted) return;
  const { toBuild } = indices;
  if (toBuild.length > 0 || replaceAll) stale.markAll(toBuild);
  const { writer } = start();
  if (toBuild.length > 0) {
    report.info({ types: toBuild, documents: writer.status().backlog }, 'building the indices');
    await Promise.race([writer.caughtUp(), writer.done]);
    await retryOutages(report, signal, indices.promote);
  } else {
    await Promise.race([writer.allVisible(graph.position()), writer.done]);
  }
  cluster.use(indices.set);
  await retryOutages(report, signal, cluster.ready);
  await retryOutages(report, signal, cluster.createWriter().refresh);
}

function startWriter(
  { graph, report }: LeadDocumentsOptions,
  tags: LeadTags,
  index: DocumentIndex,
  progressed: () => void,
): IndexWriter {
  const say = reportWriter(report);
  return startIndexWriter({
    graph,
    index,
    beforeWrite: tags.written,
    report(what) {
      if (what.kind === 'refused') tags.refused();
      say(what);
    },
    progressed,
  });
}

type AnnouncingWriter = Announcing & { readonly advanced: () => void };

function createAnnouncing(
  { cluster, stale, log, report, epoch }: LeadDocumentsOptions,
  started: Promise<IndexWriter>,
): AnnouncingWriter {
  let announcer: ProgressAnnouncer | undefined;
  let isWanted = false;
  return {
    advanced: () => announcer?.advanced(),
    start() {
      isWanted = true;
      void started.then((writer) => {
        if (!isWanted || announcer !== undefined) return;
        announcer = announceProgress({
          store: cluster.progress(log),
          writer,
          parked: stale.parked,
          epoch,
          report: ({ message }) =>
            report.warn({ reason: message }, 'the progress cannot be published, trying again'),
        });
        announcer.advanced();
      });
    },
    async stop() {
      isWanted = false;
      const stopped = announcer;
      announcer = undefined;
      return (await stopped?.close()) ?? 0n;
    },
  };
}
