import { type Backoff, backoffMs, jittered } from '../../shared/backoff.ts';
import type { Condition } from '../../shared/condition.ts';
import { addToList } from '../../shared/map-values.ts';
import type { Settlement } from '../graph/stale/stale-documents.ts';
import { type StaleRow, staleNumber } from '../graph/stale/stale-rows.ts';
import { GraphFailure } from './graph-failure.ts';
import { type Batch, makeBatch, type SentDocuments, sendBatch, type Work } from './lane.ts';

export type SuspectsOptions = {
  readonly work: Work;
  readonly changed: Condition;
  readonly isStopping: () => boolean;
  /** Records outcomes of documents made at a position. */
  readonly settle: (position: bigint, settlements: readonly Settlement[]) => void;
  readonly limits: SuspectLimits;
};

/** Limits for the documents of failed requests. */
export type SuspectLimits = {
  /** Attempts of a document alone after which it is parked, in at least `leastMs` milliseconds. */
  readonly attempts: number;
  readonly leastMs: number;
  /** Milliseconds for one request. */
  readonly requestMs: number;
  /** Milliseconds after which a document that fails alone is parked even after fewer attempts. */
  readonly longestMs: number;
  readonly backoff: Backoff;
};

/**
 * A document that Elasticsearch accepts takes far less than `requestMs` alone. A large one is refused while another large one is being
 * written, which takes seconds: for so long it is tried again.
 */
export const SUSPECT_LIMITS: SuspectLimits = Object.freeze({
  attempts: 3,
  leastMs: 3_000,
  requestMs: 30_000,
  longestMs: 20_000,
  backoff: Object.freeze({ firstMs: 100, longestMs: 10_000 }),
});

/** Maximum number of suspects. Further documents of failed requests stay in their lane. */
const MOST = 5_000;
/** Number of parts into which a failed group is split. */
const PARTS = 8;
/** After an attempt a document rests this many times as long as it took to make: large ones keep the thread that answers busy. */
const REST = 5;
/** Position that no document reaches: the lanes do not choose suspects, not even after further changes. */
const TAKEN = Number.MAX_SAFE_INTEGER;

type Group = {
  readonly documents: readonly StaleRow[];
  /** Failures of a single document while its index accepted others. */
  readonly failures: number;
  /** Time of the first of these failures. */
  readonly since: number;
  /** Failures in a row at which the index accepted nothing. */
  readonly outages: number;
  readonly due: number;
};

/**
 * Documents of failed requests, until it is known which of them the index refuses. They do not delay the lanes: each group is sent in
 * smaller parts until a document fails alone. It is parked if it fails several times while its index accepts others.
 */
export type Suspects = ReturnType<typeof createSuspects>;

/** Creates an empty list of suspects. */
export function createSuspects(options: SuspectsOptions) {
  const { work, changed, isStopping, settle, limits } = options;
  const groups: Group[] = [];
  const count = () => groups.reduce((sum, { documents }) => sum + documents.length, 0);
  const examine = async (group: Group): Promise<void> => {
    const position = work.position();
    const began = work.now();
    const { batch, unmakable } = await makeBatch(work, group.documents, Number.POSITIVE_INFINITY, position);
    const rest = (work.now() - began) * REST;
    try {
      const { settled, failed, again = '' } = await sendAlone(work, batch, limits);
      const next = await groupsAfter(options, group, { failed, rest });
      const refused = next === 'park' ? failed.map((document) => ({ document, refused: again })) : [];
      const ended = [...unmakable, ...settled, ...refused];
      settle(position, ended);
      for (const { document } of ended) work.taken.delete(staleNumber(document));
      if (next !== 'park') groups.push(...next);
    } finally {
      work.index.release(batch.sent);
    }
  };
  return {
    /**
     * Takes documents of a failed request from their lane, those of each index that accepts others. Returns whether it took all of them.
     * If not, an index is too busy, or there are too many suspects.
     */
    async take(failed: readonly StaleRow[]): Promise<boolean> {
      if (failed.length === 0) return false;
      const byIndex = new Map<string, StaleRow[]>();
      for (const document of failed) addToList(byIndex, `${document.type} ${document.world}`, document);
      let isAll = true;
      for (const documents of byIndex.values()) {
        const isTaken = count() + documents.length <= MOST && (await accepts(options, documents[0]));
        isAll &&= isTaken;
        if (!isTaken) continue;
        for (const document of documents) work.taken.set(staleNumber(document), TAKEN);
        groups.push({ ...NEW, documents });
      }
      changed.check();
      return isAll;
    },
    /** Sends suspects, one group at a time, until the writer stops. Rejects if the graph fails. */
    async run(): Promise<void> {
      while (!isStopping()) {
        const now = work.now();
        const at = groups.findIndex(({ due }) => due <= now);
        const [group] = at < 0 ? [] : groups.splice(at, 1);
        if (group === undefined) {
          const next = Math.min(...groups.map(({ due }) => due));
          const hasMore = () => isStopping() || groups.some(({ due }) => due <= work.now());
          await changed.until(hasMore, groups.length === 0 ? undefined : next - now);
          continue;
        }
        try {
          await examine(group);
        } catch (error) {
          if (error instanceof GraphFailure) throw error.cause;
          // For example the tags of the changes cannot be noted: the documents are not the reason.
          groups.push(delayed(options, group));
        }
        changed.check();
      }
    },
  };
}

const NEW = Object.freeze({ failures: 0, since: 0, outages: 0, due: 0 });

async function accepts({ work, limits }: SuspectsOptions, document: StaleRow | undefined): Promise<boolean> {
  const signal = AbortSignal.any([work.stopSignal, AbortSignal.timeout(limits.requestMs)]);
  return document !== undefined && work.index.accepts(document, signal);
}

/** Sends a batch in less time than a lane may take. */
async function sendAlone(work: Work, batch: Batch, { requestMs }: SuspectLimits): Promise<SentDocuments> {
  const limit = AbortSignal.timeout(requestMs);
  const sent = await sendBatch(
    { ...work, stopSignal: AbortSignal.any([work.stopSignal, limit]) },
    batch,
    true,
  );
  if (sent.failed.length === 0 || !limit.aborted) return sent;
  return { ...sent, again: `no answer within ${requestMs / 1000} s` };
}

/** Documents of a group that failed. `rest`: the least milliseconds until the next attempt at one. */
type Failed = { readonly failed: readonly StaleRow[]; readonly rest: number };

/** Returns the groups of documents that failed, or `park` for a single document that has failed often enough. */
async function groupsAfter(
  options: SuspectsOptions,
  group: Group,
  { failed, rest }: Failed,
): Promise<readonly Group[] | 'park'> {
  const { work, limits } = options;
  if (failed.length === 0) return [];
  if (!(await accepts(options, failed[0]))) return [delayed(options, { ...group, documents: failed })];
  if (failed.length > 1) return partsOf(failed).map((documents) => ({ ...NEW, documents }));
  const now = work.now();
  const failures = group.failures + 1;
  const since = group.failures === 0 ? now : group.since;
  const isPatient = failures < limits.attempts || now - since < limits.leastMs;
  if (!isPatient || now - since >= limits.longestMs) return 'park';
  const due = now + Math.max(rest, jittered(backoffMs(failures, limits.backoff)));
  return [{ documents: failed, failures, since, outages: 0, due }];
}

/** Returns the group for a later attempt: its index accepts no documents now. */
function delayed({ work, limits }: SuspectsOptions, group: Group): Group {
  const outages = group.outages + 1;
  return { ...group, outages, due: work.now() + jittered(backoffMs(outages, limits.backoff)) };
}

function partsOf(documents: readonly StaleRow[]): readonly (readonly StaleRow[])[] {
  const size = Math.ceil(documents.length / PARTS);
  return Array.from({ length: Math.ceil(documents.length / size) }, (_, at) =>
    documents.slice(at * size, (at + 1) * size),
  );
}
