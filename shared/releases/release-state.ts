import { assertNever } from '../assert-never.ts';
import type { Actor, StoredEvent } from '../event-store/event-store.ts';
import type { ReleaseAction, ReleaseDefined, ReleaseEvent, ReleaseProblem } from './release-events.ts';

/** Times in ISO 8601. */
type Times = { readonly createdAt: string; readonly updatedAt: string };

export type StoredAction = ReleaseAction & Times;

export type Release = ReleaseDefined['data'] &
  Times & {
    readonly createdBy: Actor | null;
    /** Revision of its last event. */
    readonly revision: bigint;
    /** In the order in which they were added. */
    readonly actions: readonly StoredAction[];
    /** Time when it was carried out; null: it was not. */
    readonly releasedAt: string | null;
    readonly lateMs: number | null;
    /** The last attempt to carry it out, which failed; null: there was none since the last change. */
    readonly failure: { readonly at: string; readonly problems: readonly ReleaseProblem[] } | null;
  };

/** Later states of a log have the same maps, which change. */
export type ReleaseState = {
  /** In the order of their ids. Of those that were carried out it has the last ones. */
  readonly releases: ReadonlyMap<number, Release>;
  /** Highest id of a release, and of an action. */
  readonly lastId: number;
  readonly lastAction: number;
  /** Revision of the stream; undefined if it does not exist. */
  readonly revision: bigint | undefined;
};

type GrowingState = ReleaseState & {
  readonly releases: Map<number, Release>;
  /** Ids of those that were carried out, the first one first, with the number of their actions. */
  readonly done: Map<number, number>;
  /** Sum of these numbers. */
  readonly doneActions: number;
};

/** Returns the state of a log without releases. */
export function noReleases(): GrowingState {
  const counts = { lastId: 0, lastAction: 0, doneActions: 0 };
  return { ...counts, releases: new Map(), done: new Map(), revision: undefined };
}

/** Releases that were carried out and are remembered, and all their actions. */
const MOST_DONE = 1_000;
const MOST_DONE_ACTIONS = 50_000;

/** Returns the state after an event of the stream of releases. */
export function evolveReleases(before: GrowingState, stored: StoredEvent): GrowingState {
  const event = stored as unknown as ReleaseEvent;
  const { revision } = stored;
  const { at } = stored.metadata;
  const { id } = event.data;
  // A copy of the map for each event would take time with the square of their number.
  const { releases } = before;
  const state = { ...before, revision };
  const known = releases.get(id);
  const change = (release: Partial<Release>) => {
    if (known !== undefined) releases.set(id, { ...known, ...release, revision });
  };
  switch (event.type) {
    case 'release-defined':
      releases.set(id, definedRelease(event.data, known, stored));
      return { ...withoutDone(state, id), lastId: Math.max(state.lastId, id) };
    case 'release-changed': {
      const { put, removed } = event.data;
      const actions = changedActions(known?.actions ?? [], { put, removed, at });
      const lastAction = Math.max(state.lastAction, ...put.map((action) => action.id));
      change({ actions, updatedAt: at, failure: null });
      return { ...state, lastAction };
    }
    case 'release-removed':
      releases.delete(id);
      return withoutDone(state, id);
    case 'release-done': {
      const { lateMs } = event.data;
      change({ releasedAt: at, updatedAt: at, lateMs, failure: null });
      return known === undefined ? state : withDone(state, known);
    }
    case 'release-failed':
      change({ updatedAt: at, failure: { at, problems: event.data.problems } });
      return state;
    default:
      return assertNever(event);
  }
}

/** Counts a release as carried out. Forgets those that were carried out first, if there are too many. Their events stay in the log. */
function withDone(state: GrowingState, { id, actions }: Release): GrowingState {
  const { done, releases } = state;
  let { doneActions } = withoutDone(state, id);
  done.set(id, actions.length);
  doneActions += actions.length;
  for (const [oldest, count] of done) {
    if (done.size <= MOST_DONE && (doneActions <= MOST_DONE_ACTIONS || done.size === 1)) break;
    done.delete(oldest);
    releases.delete(oldest);
    doneActions -= count;
  }
  return { ...state, doneActions };
}

function withoutDone(state: GrowingState, id: number): GrowingState {
  const count = state.done.get(id) ?? 0;
  state.done.delete(id);
  return { ...state, doneActions: state.doneActions - count };
}

function definedRelease(
  head: ReleaseDefined['data'],
  known: Release | undefined,
  { revision, metadata: { at, actor } }: StoredEvent,
): Release {
  return {
    ...head,
    createdAt: known?.createdAt ?? at,
    updatedAt: at,
    createdBy: known?.createdBy ?? actor ?? null,
    revision,
    actions: known?.actions ?? [],
    releasedAt: null,
    lateMs: null,
    failure: null,
  };
}

type Change = {
  readonly put: readonly ReleaseAction[];
  readonly removed: readonly number[];
  readonly at: string;
};

function changedActions(before: readonly StoredAction[], { put, removed, at }: Change): StoredAction[] {
  const gone = new Set(removed);
  const replaced = new Map(put.map((action) => [action.id, action]));
  const kept = before
    .filter(({ id }) => !gone.has(id))
    .map((action) => {
      const other = replaced.get(action.id);
      replaced.delete(action.id);
      return other === undefined ? action : { ...other, createdAt: action.createdAt, updatedAt: at };
    });
  return [...kept, ...[...replaced.values()].map((action) => ({ ...action, createdAt: at, updatedAt: at }))];
}

/** Returns whether a release was not carried out. */
export function isPending({ releasedAt }: Release): boolean {
  return releasedAt === null;
}

/** Returns the releases that were not carried out. */
export function pendingReleases({ releases }: ReleaseState): readonly Release[] {
  return [...releases.values()].filter(isPending);
}

/**
 * Returns the scheduled releases that wait for their time or are late, in the order in which they are carried out. One that failed at its
 * time waits for a change. One that failed before, when a caller carried it out, still has its time.
 */
export function scheduledReleases(releases: Iterable<Release>): readonly Release[] {
  const waiting = [...releases].filter(
    (release) =>
      isPending(release) &&
      release.scheduledAt !== null &&
      (release.failure === null || Date.parse(release.failure.at) < timeOf(release)),
  );
  return waiting.sort((one, other) => timeOf(one) - timeOf(other) || one.id - other.id);
}

/** Returns the scheduled releases that are due at an instant (ms since 1970), in the order in which they are carried out. */
export function dueReleases(releases: Iterable<Release>, until: number): readonly Release[] {
  return scheduledReleases(releases).filter((release) => timeOf(release) <= until);
}

/** Returns the time of a scheduled release, in milliseconds since 1970. */
export function timeOf({ scheduledAt }: Pick<Release, 'scheduledAt'>): number {
  return scheduledAt === null ? Number.POSITIVE_INFINITY : Date.parse(scheduledAt);
}
