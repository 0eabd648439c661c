import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, jittered } from '../../shared/backoff.ts';
import { whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import { createAskedWork } from '../outbox/asked-work.ts';
import { postRequest } from '../outbox/post-request.ts';
import { outcomeOf, type RequestOutcome } from '../outbox/request-outcome.ts';
import { type Shows, untilShown } from '../outbox/until-shown.ts';
import type { PurgeStore, StoredChange } from './purge-store.ts';
import { type PurgedTags, type PurgeStyle, type PurgeTarget, purgeRequests } from './purge-target.ts';

export type PurgeReport = {
  /** A damaged file of changes was renamed, and a new one replaces it. */
  replaced(file: string): void;
  /** A receiver has purged tags. */
  purged(target: PurgeTarget, count: number): void;
  failed(target: PurgeTarget, reason: string): void;
  error(error: unknown): void;
};

/** Times in milliseconds. */
export const PURGE_LIMITS = {
  /** A change waits this long for more changes, and for answers on their way to the receiver. */
  gatherMs: 20,
  /** Time for one request. */
  timeoutMs: 5_000,
  /** If a purge takes longer, the receiver may have stored an old answer after the purge. */
  slowMs: 500,
  /** Such a purge is repeated after this time. */
  againMs: 1_000,
  backoff: { firstMs: 100, longestMs: 5_000 },
  /** The longest pause that a receiver can request with Retry-After. */
  longestPauseMs: 60_000,
};
export type PurgeLimits = Readonly<typeof PURGE_LIMITS>;

export type SenderOptions = {
  readonly store: PurgeStore;
  readonly style: PurgeStyle;
  readonly limits: PurgeLimits;
  /** Every answer has this tag. */
  readonly generation: string;
  /** Number of changes since the start that could not be stored. Each is a reason to purge all answers. */
  readonly lost: () => number;
  /** The tags of all answers. */
  readonly all: () => PurgedTags;
  readonly report: PurgeReport;
  /** Searches of documents outside the process: a change is purged after they show it. Absent: the index shows each change already. */
  readonly searches?: Searches | undefined;
};

/** Searches of documents that this process writes. */
export type Searches = {
  /** Returns the newest position that searches are known to show, also in embedded copies. */
  readonly shown: () => bigint;
  readonly shows: Shows;
};

/** Maximum number of changes that are purged together. */
const BATCH = 500;

/** `upTo`: changes up to this number can be purged. `lost`: so many changes could not be stored, and require a purge of everything. */
type Due = { readonly upTo: number; readonly lost: number };

/** Changes are purged once they are due for `waitMs`. */
type Round = {
  /** Names its checkpoint. */
  readonly name: string;
  readonly waitMs: number;
  readonly due: () => Due;
  /** Called when more has been purged. */
  readonly moved: () => void;
};

/** Purges changes in one receiver, from its checkpoint on, until it has confirmed them. Purges twice if the target says so. */
export function createPurgeSender(options: SenderOptions, target: PurgeTarget) {
  const { store, lost, limits } = options;
  const [name, again = ''] = receiverNames(target);
  const { againAfterMs: waitMs } = target;
  const first = createRound(options, target, {
    name,
    waitMs: limits.gatherMs,
    due: () => ({ upTo: store.newest(), lost: lost() }),
    moved: () => second?.look(),
  });
  const second =
    waitMs === undefined
      ? undefined
      : createRound(options, target, { name: again, waitMs, due: first.purged, moved: () => {} });
  return {
    /** There may be new changes. */
    look(): void {
      first.look();
      second?.look();
    },
    close: async () => void (await Promise.all([first.close(), second?.close()])),
  };
}

function createRound(options: SenderOptions, target: PurgeTarget, round: Round) {
  const { store, limits, report, searches } = options;
  const { name } = round;
  let purgedLost = 0;
  /** Resolves with false when the round is closed first. */
  const areShown = async ({ position }: PurgedTags): Promise<boolean> =>
    searches === undefined || untilShown(searches.shows, position, signal);
  /** Resolves with the first changes after a number that searches show; waits for the first one. */
  const changesAfter = async (done: number, upTo: number): Promise<readonly StoredChange[]> => {
    const stored = store.after(done, BATCH).filter(({ seq }) => seq <= upTo);
    const [first] = stored;
    if (first === undefined || searches === undefined) return stored;
    if (!(await areShown(first))) return [];
    return stored.filter(({ position }) => position <= first.position || position <= searches.shown());
  };
  const purgeAll = async (lost: number): Promise<void> => {
    const all = options.all();
    if (!(await areShown(all))) return;
    await purgeSurely(options, target, all, signal);
    purgedLost = lost;
    round.moved();
  };
  const purgeChanges = async (upTo: number): Promise<void> => {
    for (;;) {
      const done = store.checkpoint(name) ?? 0;
      const changes = await changesAfter(done, upTo);
      const [first, last] = [changes.at(0), changes.at(-1)];
      if (first === undefined || last === undefined) return;
      // Changes in between were removed from the file, so their tags are not known.
      const isWhole = first.seq === done + 1;
      const tags = merged(changes, options, isWhole);
      await purgeSurely(options, target, tags, signal);
      report.purged(target, tags.names.length);
      await whenUnlocked(() => store.moveCheckpoint(name, last.seq), signal);
      round.moved();
    }
  };
  const { signal, look, close } = createAskedWork({
    async work() {
      const { upTo, lost } = round.due();
      await delay(round.waitMs, undefined, { signal });
      if (lost > purgedLost) await purgeAll(lost);
      await purgeChanges(upTo);
    },
    againMs: limits.backoff.longestMs,
    failed: report.error,
  });
  return {
    look,
    close,
    purged: (): Due => ({ upTo: store.checkpoint(name) ?? 0, lost: purgedLost }),
  };
}

/** Names a receiver in the file of purges, and its second purges. */
export function receiverNames({
  kind,
  address,
  againAfterMs,
}: PurgeTarget): readonly [string] | readonly [string, string] {
  const name = `${kind}=${address}`;
  return againAfterMs === undefined ? [name] : [name, `again ${name}`];
}

/** Merges the tags of changes: only the tag of all answers, if one has it. If changes are missing, adds all plain names. */
function merged(
  changes: readonly StoredChange[],
  { generation, all }: Pick<SenderOptions, 'generation' | 'all'>,
  isWhole: boolean,
): PurgedTags {
  const names = new Set(changes.flatMap((change) => change.names));
  const plain = new Set([...changes.flatMap((change) => change.plain), ...(isWhole ? [] : all().plain)]);
  const position = changes.at(-1)?.position ?? 0n;
  const isAll = !isWhole || names.has(generation);
  return { names: isAll ? [generation] : [...names], plain: [...plain], position };
}

/**
 * Sends a purge until the receiver has confirmed it at once. After a failure or a slow confirmation it is sent again a while later: the
 * receiver may have stored an old answer after it.
 */
async function purgeSurely(
  options: SenderOptions,
  target: PurgeTarget,
  tags: PurgedTags,
  signal: AbortSignal,
): Promise<void> {
  const { limits, report } = options;
  for (let failures = 0; ; ) {
    const started = performance.now();
    const failed = await send(options, target, tags, signal);
    if (failed !== undefined) {
      failures += 1;
      report.failed(target, failed.failure);
      const usualMs = jittered(backoffMs(failures, limits.backoff));
      await delay(Math.max(failed.askedMs ?? 0, usualMs), undefined, { signal });
      continue;
    }
    if (failures === 0 && performance.now() - started <= limits.slowMs) return;
    await delay(limits.againMs, undefined, { signal });
    if ((await send(options, target, tags, signal)) === undefined) return;
    failures = 1;
  }
}

/** Returns the first failure; undefined if the receiver has confirmed all tags. */
async function send(
  { limits: { timeoutMs, longestPauseMs }, style }: SenderOptions,
  target: PurgeTarget,
  tags: PurgedTags,
  signal: AbortSignal,
): Promise<(RequestOutcome & { readonly failure: string }) | undefined> {
  for (const request of purgeRequests(target, tags, style)) {
    // An operator names receivers on the command line: private addresses are usual.
    const result = await postRequest({ ...request, timeoutMs, signal, allowPrivate: true });
    signal.throwIfAborted();
    const { failure, ...outcome } = outcomeOf(result, longestPauseMs);
    if (failure !== null) return { ...outcome, failure };
  }
  return undefined;
}
