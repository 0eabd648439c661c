import type { Database } from '../../sqlite/database.ts';
import type { Append, EventRow } from '../event-codec.ts';
import type { EventHandler, StoredEvent, Subscription } from '../event-store.ts';
import { laterPosition } from '../later-position.ts';
import { type AppendOutcome, committedRows } from './commit-appends.ts';
import { type ForeignCommits, watchForeignCommits } from './foreign-commits.ts';
import { LogReplaced, type SameLog, watchLogIdentity } from './log-identity.ts';
import { type Found, type LogSubscription, subscribeToLog } from './log-subscription.ts';
import type { LogWriter } from './log-writer.ts';
import { createRecentEvents } from './recent-events.ts';
import { readAfter, readForeignVersion, readHead, readLastPosition, type SpacePage } from './sqlite-log.ts';
import { readWholeAppends } from './whole-appends.ts';

export type DecodeAll = (rows: readonly EventRow[]) => readonly StoredEvent[];

export type TailedStream = { readonly batchSize: number; readonly stream?: string | undefined };

export type LogTailOptions = {
  readonly path: string;
  readonly db: Database;
  readonly space: string;
  readonly writer: LogWriter;
  readonly decodeAll: DecodeAll;
};

/**
 * Creates the end of an open log. It commits appends and wakes subscribers. While there are subscribers, it also watches for commits of
 * other processes.
 */
export function createLogTail({ path, db, space, writer, decodeAll }: LogTailOptions) {
  const subscriptions = new Set<LogSubscription>();
  const same = watchLogIdentity(path, db);
  const growth = createGrowth(db, same);
  const { recent } = growth;
  let foreign: ForeignCommits | undefined;
  let failure: unknown;
  /**
   * True during a commit, when no check is made. A check might find the commit itself, whose events are added when it ends. Earlier events
   * of other processes are found then too.
   */
  let isCommitting = false;

  const wakeAll = () => {
    for (const subscription of subscriptions) subscription.wake();
  };
  const look = (): boolean => {
    if (failure !== undefined || isCommitting) return false;
    try {
      same.checkFile();
      const hasGrown = growth.look();
      if (hasGrown) wakeAll();
      return hasGrown;
    } catch (error) {
      stop(error);
      return false;
    }
  };
  const stop = (error: unknown) => {
    // The subscriptions find the failure when they read, and reject with it.
    failure = error;
    wakeAll();
  };
  const stopIfReplaced = (error: unknown): never => {
    isCommitting = false;
    if (error instanceof LogReplaced) stop(error);
    throw error;
  };
  const readRecent = (after: bigint, limit: number): SpacePage => {
    const rows = recent.after(after, limit);
    const searched = rows.length < limit ? recent.last() : (rows.at(-1)?.[0] ?? after);
    return { rows, upTo: laterPosition(searched, after) };
  };
  const nextOf = (stream: string | undefined, after: bigint, limit: number): Found => {
    if (failure !== undefined) throw failure;
    const read = (at: bigint, most: number) =>
      recent.covers(at) ? readRecent(at, most) : readAfter(db, space, at, most);
    const { rows, upTo } = readWholeAppends(read, after, limit);
    return { events: decodeAll(ofStream(rows, stream)), hasPassed: rows.length > 0, upTo };
  };
  const forget = (subscription: LogSubscription) => {
    subscriptions.delete(subscription);
    if (subscriptions.size > 0) return;
    foreign?.close();
    foreign = undefined;
  };
  return {
    /** Stores the appends (see commitAppends) and wakes the subscriptions. `isWhole`: all of them, or none. */
    async commit(appends: readonly Append[], isWhole: boolean): Promise<readonly AppendOutcome[]> {
      if (failure !== undefined) throw failure;
      isCommitting = true;
      const commit = await writer.commit({ appends, known: same.known(), isWhole }).catch(stopIfReplaced);
      isCommitting = false;
      const rows = committedRows(appends, commit);
      same.committed(rows.at(-1));
      recent.push(commit.before, rows);
      wakeAll();
      return commit.outcomes;
    },
    /** Subscribes to one stream or to all. */
    subscribe(after: bigint, handle: EventHandler, { batchSize, stream }: TailedStream): Subscription {
      look();
      const next = (at: bigint, limit: number) => nextOf(stream, at, limit);
      const subscription = subscribeToLog({ next, last: recent.last }, after, handle, batchSize);
      subscriptions.add(subscription);
      foreign ??= watchForeignCommits(path, look);
      const gone = () => forget(subscription);
      subscription.done.then(gone, gone);
      return subscription;
    },
    /** Closes all subscriptions. Resolves when none of their handlers runs. */
    async close(): Promise<void> {
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
    },
  };
}

/** Returns the rows of a stream, or all rows. Events of other streams are not decoded. */
function ofStream(rows: readonly EventRow[], stream: string | undefined): readonly EventRow[] {
  return stream === undefined ? rows : rows.filter((row) => row[1] === stream);
}

/** Creates the memory of recent events, with a cheap check whether other connections have extended the log. */
function createGrowth(db: Database, same: SameLog) {
  // The order matters. A commit between the two reads is found by the next check; in the other order it would be missed.
  let foreignVersion = readForeignVersion(db);
  const recent = createRecentEvents(readLastPosition(db));
  const look = (): boolean => {
    const version = readForeignVersion(db);
    if (version === foreignVersion) return false;
    foreignVersion = version;
    // The committing thread has its own connection, so the change is usually the last commit of this process.
    const head = readHead(db);
    if (!same.hasMoved(head)) return false;
    if (head.position !== recent.last()) recent.restart(head.position);
    return true;
  };
  return { recent, look };
}
