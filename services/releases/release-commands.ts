import type { EventStore } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import type { Locks } from '../../shared/locks.ts';
import {
  type ReleaseAction,
  type ReleaseEvent,
  type ReleaseFailed,
  releaseStream,
} from '../../shared/releases/release-events.ts';
import {
  isPending,
  pendingReleases,
  type Release,
  type ReleaseState,
  type StoredAction,
} from '../../shared/releases/release-state.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Author } from '../command/command.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { Schedule } from './parse-schedule.ts';
import { noRelease, ONE_ENTRY, refusedRelease } from './release-error.ts';
import { MOST_ACTIONS, type ReleaseRequest } from './release-request.ts';
import type { KnownReleases } from './watch-releases.ts';

/** Releases that wait, at most. Schedules of one entry that failed are not among them: only full access removes these. */
const MOST_PENDING = 1_000;

export type ReleaseCommandsOptions = {
  readonly log: EventStore;
  readonly space: string;
  readonly known: KnownReleases;
  /** Lease of this process. Throws NotLeading without a lease. */
  readonly lead: () => Lead;
  readonly author: () => Author;
  readonly now: () => Date;
  readonly locks: Locks;
};

/** A stored change: the release after it, and its position. */
export type ChangedRelease = { readonly release: Release; readonly position: bigint };

/** Changes of releases. Only the leader makes them. */
export type ReleaseCommands = ReturnType<typeof createReleaseCommands>;

type Decision = { readonly id: number; readonly events: readonly ReleaseEvent[] };

const ATTEMPTS = 10;

/**
 * Creates commands on the releases of a log, which throw RequestError. A release that was carried out does not change any more, as in
 * Strapi.
 */
export function createReleaseCommands(options: ReleaseCommandsOptions) {
  const { known } = options;
  const commit = createCommit(options);
  const change = (via: string, id: number, decide: (release: Release) => readonly ReleaseEvent[]) =>
    commit(via, (state) => ({ id, events: decide(pendingRelease(state, id)) }));
  return {
    add: (request: ReleaseRequest) =>
      commit('add-release', (state) => {
        refuseTakenName(state, request.name, undefined);
        refuseTooMany(state);
        return { id: state.lastId + 1, events: [defined(state.lastId + 1, request, false)] };
      }),
    change: (id: number, request: ReleaseRequest) =>
      commit('change-release', (state) => {
        const { single } = pendingRelease(state, id);
        refuseTakenName(state, request.name, id);
        return { id, events: [defined(id, request, single)] };
      }),
    remove: (id: number) => change('remove-release', id, () => [{ type: 'release-removed', data: { id } }]),
    /** Adds the actions on entries that the release does not have yet. */
    async addActions(id: number, actions: readonly NewAction[]) {
      let added: readonly ReleaseAction[] = [];
      const isWhole = await options.log.checksConditions();
      const changed = await commit('change-release', (state) => {
        const release = pendingRelease(state, id);
        added = newActions(state, release, actions);
        if (!isWhole && release.actions.length + added.length > 1)
          throw new RequestError('not-supported', ONE_ENTRY);
        return {
          id,
          events:
            added.length === 0 ? [] : [{ type: 'release-changed', data: { id, put: added, removed: [] } }],
        };
      });
      const ids = new Set(added.map((action) => action.id));
      return { ...changed, added: changed.release.actions.filter((action) => ids.has(action.id)) };
    },
    changeAction: (id: number, actionId: number, type: ReleaseAction['type']) =>
      change('change-release', id, (release) => {
        const { createdAt: _created, updatedAt: _updated, ...action } = actionOf(release, actionId);
        return [{ type: 'release-changed', data: { id, put: [{ ...action, type }], removed: [] } }];
      }),
    removeAction: (id: number, actionId: number) =>
      change('change-release', id, (release) => [
        { type: 'release-changed', data: { id, put: [], removed: [actionOf(release, actionId).id] } },
      ]),
    /** Schedules an action on one entry, instead of the same action that was scheduled for it before. */
    schedule: (action: NewAction, schedule: Schedule) =>
      commit(`schedule-${action.type}`, (state) => {
        const earlier = singleRelease(state, action);
        const id = earlier?.id ?? state.lastId + 1;
        const request = { name: nameOf(action), ...schedule };
        if (earlier !== undefined) return { id, events: [defined(id, request, true)] };
        refuseTooMany(state);
        const put = [{ id: state.lastAction + 1, ...action }];
        const added = { type: 'release-changed', data: { id, put, removed: [] } } as const;
        return { id, events: [defined(id, request, true), added] };
      }),
    /** Ends what `schedule` began. Throws 404 if the action is not scheduled. */
    unschedule: (action: NewAction) =>
      commit(`unschedule-${action.type}`, (state) => {
        const release = singleRelease(state, action);
        if (release === undefined) throw new RequestError('not-found', 'Not Found');
        return { id: release.id, events: [{ type: 'release-removed', data: { id: release.id } }] };
      }),
    /** Records that a release could not be carried out, unless the releases have changed since this revision. */
    fail(
      { id, name, scheduledAt, timezone }: Release,
      problems: ReleaseFailed['data']['problems'],
      revision: bigint | undefined,
    ) {
      const data = { id, name, scheduledAt, timezone, problems };
      return commit('fail-release', (state) =>
        state.revision === revision ? { id, events: [{ type: 'release-failed', data }] } : { id, events: [] },
      );
    },
    list: () => [...known.state().releases.values()],
    find: (id: number): Release => releaseOf(known.state(), id),
  };
}

/** An action before it has an id. */
export type NewAction = Omit<ReleaseAction, 'id'>;

/** Returns a function that appends the events of a decision, and decides again if others came first. */
function createCommit({ log, space, known, lead, author, now, locks }: ReleaseCommandsOptions) {
  const stream = releaseStream(space);
  const attempt = async (via: string, decide: (state: ReleaseState) => Decision) => {
    const { epoch, fence } = lead();
    const state = known.state();
    const { id, events } = decide(state);
    const before = state.releases.get(id);
    if (events.length === 0) return { release: releaseOf(state, id), position: await log.lastPosition() };
    const metadata = { at: now().toISOString(), epoch, ...author(), via };
    const stored = events.map((event) => newEvent(event, metadata));
    const result = await log.append(stream, state.revision ?? 'none', stored, fence);
    if (result.kind === 'fenced') throw new NotLeading();
    await known.reached(result.kind === 'appended' ? result.revision : result.actual);
    if (result.kind === 'conflict') return undefined;
    const release = known.state().releases.get(id) ?? before;
    if (release === undefined) throw new Error(`the release ${id} was not stored`);
    return { release, position: result.position };
  };
  return (via: string, decide: (state: ReleaseState) => Decision): Promise<ChangedRelease> =>
    locks.run([stream], async () => {
      for (let n = 0; n < ATTEMPTS; n++) {
        const changed = await attempt(via, decide);
        if (changed !== undefined) return changed;
      }
      throw new RequestError('rights-contended', 'Releases are being changed by others, try again');
    });
}

function defined(id: number, { name, scheduledAt, timezone }: ReleaseRequest, single: boolean): ReleaseEvent {
  return { type: 'release-defined', data: { id, name, scheduledAt, timezone, single } };
}

function releaseOf({ releases }: ReleaseState, id: number): Release {
  const release = releases.get(id);
  if (release === undefined) throw noRelease('release', String(id));
  return release;
}

function pendingRelease(state: ReleaseState, id: number): Release {
  const release = releaseOf(state, id);
  if (isPending(release)) return release;
  throw new RequestError('invalid-release', 'Release already published', { id });
}

function actionOf({ id, actions }: Release, actionId: number): StoredAction {
  const action = actions.find((each) => each.id === actionId);
  if (action === undefined) throw noRelease(`action in the release ${id}:`, String(actionId));
  return action;
}

function refuseTooMany(state: ReleaseState): void {
  const waiting = pendingReleases(state).filter(({ single, failure }) => !single || failure === null);
  if (waiting.length < MOST_PENDING) return;
  throw new RequestError(
    'invalid-release',
    `There are ${MOST_PENDING} pending releases, which is the maximum`,
  );
}

/** Refuses the name of a pending release. Actions on single entries take no names. */
function refuseTakenName(state: ReleaseState, name: string, except: number | undefined): void {
  const isTaken = pendingReleases(state).some(
    (each) => each.name === name && each.id !== except && !each.single,
  );
  if (isTaken) throw refusedRelease([{ path: 'name', message: `is taken: there is a release "${name}"` }]);
}

/** Returns the actions that are not in the release, with ids. Throws RequestError (400) if there are too many. */
function newActions(
  state: ReleaseState,
  { actions }: Release,
  wanted: readonly NewAction[],
): readonly ReleaseAction[] {
  const present: NewAction[] = [...actions];
  const added: ReleaseAction[] = [];
  for (const { type, contentType, entryDocumentId, locale } of wanted) {
    const action = { type, contentType, entryDocumentId, locale };
    if (present.some((each) => isSameEntry(each, action))) continue;
    present.push(action);
    added.push({ id: state.lastAction + 1 + added.length, ...action });
  }
  if (present.length <= MOST_ACTIONS) return added;
  throw refusedRelease([
    { path: 'actions', message: `must be at most ${MOST_ACTIONS}, got ${present.length}` },
  ]);
}

function isSameEntry(one: NewAction, other: NewAction): boolean {
  const isSameDocument =
    one.contentType === other.contentType && one.entryDocumentId === other.entryDocumentId;
  return isSameDocument && (one.locale === other.locale || one.locale === '*' || other.locale === '*');
}

/** Returns the pending release that `schedule` made for the same action, unless somebody has added others to it. */
function singleRelease(state: ReleaseState, action: NewAction): Release | undefined {
  return pendingReleases(state).find(({ single, actions: [first, ...others] }) => {
    if (!single || first?.type !== action.type || others.length > 0) return false;
    const { contentType, entryDocumentId, locale } = action;
    return (
      first.contentType === contentType &&
      first.entryDocumentId === entryDocumentId &&
      first.locale === locale
    );
  });
}

function nameOf({ type, contentType, entryDocumentId, locale }: NewAction): string {
  return [type, contentType, entryDocumentId, ...(locale === null ? [] : [locale])].join(' ');
}
