import { randomUUID } from 'node:crypto';
import type { Backoff } from '../../shared/backoff.ts';
import { createCondition } from '../../shared/condition.ts';
import { defined } from '../../shared/defined.ts';
import type {
  ChangedTags,
  ChangedTagsStore,
  TagChange,
  TagsVersion,
} from '../../shared/read-index/changed-tags.ts';
import { retry } from '../../shared/retry.ts';
import type { Report } from './report.ts';
import { retryOutages } from './retry-outages.ts';

export type TagTermOptions = {
  readonly store: Pick<ChangedTagsStore, 'glance' | 'latest' | 'replace'>;
  readonly epoch: number;
  /** Returns whether the log has no claim newer than this epoch. */
  readonly isNewest: (epoch: number) => Promise<boolean>;
  /** Returns the position of the graph from which the documents are made. */
  readonly position: () => bigint;
  readonly signal: AbortSignal;
  readonly report: Report;
};

/**
 * Notes the tags of changes while this process writes the documents, so that other processes know which answers a change does not affect. A
 * document is written only after the tags of its changes: if a search shows a change, its tags can be read too.
 */
export type TagTerm = {
  /** Ends the previous term of any leader. Resolves with false if another process is the leader. */
  begin(): Promise<boolean>;
  /**
   * Begins to note changes in the documents of `set`, unless that set refused one. If an earlier leader noted changes that the graph does
   * not have yet, noting begins when the graph has them.
   */
  open(set: string): Promise<void>;
  /** Receives a change, with digests of its tags. Called for each position that the graph reaches. */
  note(position: bigint, tags: readonly string[]): void;
  /**
   * Resolves when the tags of all changes up to a position can be read, or if no tags are noted. Rejects if another process is the leader.
   */
  written(position: bigint): Promise<void>;
  /** Stops noting changes. They are never noted again in the set `brokenSet`. */
  cease(brokenSet?: string): Promise<void>;
  /** Makes `written` no longer reject: another process takes over, and no process will read this one's documents. */
  release(): void;
};

const UNWRITTEN = 'changed tags cannot be written, so documents wait: trying again';

/** Number of tags that are kept for readers. A reader that misses more between two reads loses its knowledge of answers. */
const MOST_TAGS = 1_000;
const BACKOFF: Backoff = { firstMs: 100, longestMs: 5_000 };

/** Error of a term whose process is no longer the leader. */
class Replaced extends Error {
  constructor() {
    super('another process writes the documents');
  }
}

/** Creates the notes of one term. Writes nothing before `begin` and `open`. */
export function createTagTerm(options: TagTermOptions): TagTerm {
  const { position: positionNow, signal, report } = options;
  const moved = createCondition();
  signal.addEventListener('abort', () => moved.fail(new Error('this process no longer writes documents')));
  const stored = createStoredTerm(options);
  /** Set whose changes are to be noted. */
  let wanted: string | undefined;
  /** True if changes are noted, or if a request that begins it may have been stored. */
  let isOpen = false;
  let ceasing = 0;
  let [isReplaced, isReleased] = [false, false];
  /** Position of the newest change here, and the position up to which all tags can be read. */
  let [noted, writtenUpTo] = [0n, 0n];
  let pending: TagChange[] = [];
  let isQueued = false;
  /** Last write: states are written one after the other. */
  let writes = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    writes = writes.then(work).catch((error: Error) => {
      isReplaced ||= error instanceof Replaced;
      if (isReplaced) moved.check();
      else moved.fail(error);
    });
    return writes;
  };
  const close = async (brokenSet?: string): Promise<void> => {
    await stored.close(brokenSet);
    isOpen = false;
    pending = [];
    moved.check();
  };
  const write = async (upTo: bigint, next: () => ChangedTags): Promise<void> => {
    if (await stored.replace(next())) {
      writtenUpTo = upTo;
      moved.check();
      return;
    }
    // Another process has written, or a request of this process that seemed to fail was stored: a new term begins.
    await close();
    await tryOpen();
  };
  const tryOpen = async (): Promise<void> => {
    const { upTo, brokenSet } = stored.state();
    const since = positionNow();
    // Earlier leaders may have written documents up to `upTo`, and the tags of these changes are forgotten now.
    if (isOpen || wanted === undefined || wanted === brokenSet || since < upTo) return;
    isOpen = true;
    [noted, writtenUpTo] = [since, since];
    const set = wanted;
    await write(since, () => ({ ...stored.next(brokenSet), set, since, upTo: since }));
  };
  const writePending = async (): Promise<void> => {
    isQueued = false;
    if (!isOpen) return tryOpen();
    const [upTo, changes] = [noted, pending];
    pending = [];
    await write(upTo, () => withChanges(stored.state(), changes, upTo));
  };
  /**
   * Begins a new term if the stored state is not the one that this process wrote. Documents may be written long after their tags, and a
   * person may have restored the index from a snapshot in between.
   */
  const confirm = async (): Promise<void> => {
    if (!isOpen || (await stored.isNewest())) return;
    await close();
    await tryOpen();
  };
  return {
    begin: async () => (await retryOutages(report, signal, () => stored.replaceLatest())) === true,
    async open(set) {
      wanted = set;
      await inTurn(tryOpen);
    },
    note(position, tags) {
      if (isOpen) {
        if (position <= noted) return;
        noted = position;
        if (tags.length > 0) pending.push({ position, tags });
      } else if (wanted === undefined || wanted === stored.state().brokenSet) return;
      if (isQueued) return;
      isQueued = true;
      // Never rejects: those who wait for tags get a failure.
      void inTurn(writePending);
    },
    async written(position) {
      const isWritten = () => ceasing === 0 && (!isOpen || position <= writtenUpTo);
      const seen = stored.confirmations();
      await moved.until(() => isReplaced || isWritten());
      if (isOpen && stored.confirmations() === seen) await inTurn(confirm);
      if (isReplaced && !isReleased) throw new Replaced();
    },
    async cease(brokenSet) {
      wanted = undefined;
      ceasing++;
      await inTurn(async () => {
        const isNew = brokenSet !== undefined && brokenSet !== stored.state().brokenSet;
        if (isOpen || isNew) await close(brokenSet);
      });
      ceasing--;
      moved.check();
    },
    release() {
      isReleased = true;
    },
  };
}

/** Creates the stored state of the term, and keeps what this process wrote last. */
function createStoredTerm({ store, epoch, isNewest: isNewestClaim, signal, report }: TagTermOptions) {
  let version: TagsVersion = 'absent';
  let confirmations = 0;
  let state: ChangedTags = { term: randomUUID(), epoch, number: 0, since: 0n, upTo: 0n, changes: [] };
  const next = (brokenSet: string | undefined): ChangedTags => {
    const { upTo } = state;
    const term = { term: randomUUID(), epoch, number: 0, since: upTo, upTo, changes: [] };
    return { ...term, ...defined({ brokenSet }) };
  };
  /** Repeats a request until it succeeds, even after a refusal that an operator can undo, such as a blocked index. */
  const persist = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const failed = (error: unknown) => {
      if (!signal.aborted) report.warn({ reason: (error as Error).message }, UNWRITTEN);
    };
    const done = await retry(async () => ({ result: await work() }), { backoff: BACKOFF, signal, failed });
    if (done === undefined) throw new Replaced();
    return done.result;
  };
  const replaceLatest = async (brokenSet?: string): Promise<boolean> => {
    for (;;) {
      const latest = await store.latest();
      // The claim is checked after the state was read: a process that claims later replaces the state again.
      if (!(await isNewestClaim(epoch))) return false;
      const before = latest.state;
      if (before !== undefined && before.upTo > state.upTo) state = { ...state, upTo: before.upTo };
      const closed = next(brokenSet ?? before?.brokenSet ?? state.brokenSet);
      const replaced = await store.replace(latest.version, closed);
      if (replaced === undefined) continue;
      [version, state] = [replaced, closed];
      return true;
    }
  };
  return {
    state: () => state,
    /** Returns a term after the current one, in which nothing is noted. */
    next,
    /** Begins a term in which nothing is noted, over any stored state. Resolves with false if another process is leader. */
    replaceLatest,
    /** Replaces the current state. Resolves with false if it was replaced already. Repeats requests that fail. */
    async replace(wanted: ChangedTags): Promise<boolean> {
      const replaced = await persist(() => store.replace(version, wanted));
      if (replaced === undefined) return false;
      [version, state] = [replaced, wanted];
      confirmations++;
      return true;
    },
    /** Returns whether this state is still the newest. Repeats requests that fail. */
    async isNewest(): Promise<boolean> {
      const { newest } = await persist(store.glance);
      const isNewest = newest?.term === state.term && newest.number === state.number;
      if (isNewest) confirmations++;
      return isNewest;
    },
    /** Returns how often this state was confirmed as the newest. */
    confirmations: () => confirmations,
    /** Calls `replaceLatest`, and repeats it if it fails. Throws Replaced if another process is the leader. */
    async close(brokenSet?: string): Promise<void> {
      if (!(await persist(() => replaceLatest(brokenSet)))) throw new Replaced();
    },
  };
}

/** Returns the next state of a term. The oldest changes are dropped if there are too many. */
function withChanges(state: ChangedTags, added: readonly TagChange[], upTo: bigint): ChangedTags {
  const changes = [...state.changes, ...added];
  let { since } = state;
  let count = changes.reduce((sum, { tags }) => sum + tags.length, 0);
  while (count > MOST_TAGS) {
    const dropped = changes.shift() as TagChange;
    count -= dropped.tags.length;
    since = dropped.position;
  }
  return { ...state, number: state.number + 1, since, upTo, changes };
}
