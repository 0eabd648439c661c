import { expect, it } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ReleaseAction, ReleaseEvent } from '../../shared/releases/release-events.ts';
import { evolveReleases, noReleases, pendingReleases } from '../../shared/releases/release-state.ts';

/** Returns the state after these events of the stream of releases. */
function stateOf(events: readonly ReleaseEvent[]) {
  return events.reduce((state, event, n) => {
    const stored = { ...event, revision: BigInt(n), metadata: { at: `at ${n}` } };
    return evolveReleases(state, stored as unknown as StoredEvent);
  }, noReleases());
}

function defined(id: number): ReleaseEvent {
  const data = { id, name: `release ${id}`, scheduledAt: null, timezone: null, single: false };
  return { type: 'release-defined', data };
}

function filled(id: number, actions: number): ReleaseEvent {
  const action = (n: number): ReleaseAction => ({
    id: n + 1,
    type: 'publish',
    contentType: 'api::article.article',
    entryDocumentId: `document${n}`,
    locale: null,
  });
  const put = Array.from({ length: actions }, (_, n) => action(n));
  return { type: 'release-changed', data: { id, put, removed: [] } };
}

function done(id: number): ReleaseEvent {
  return { type: 'release-done', data: { id, lateMs: 0 } } as ReleaseEvent;
}

function idsOf(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

it('remembers the last 1,000 releases that were carried out, and each pending one', () => {
  const state = stateOf([
    defined(1),
    defined(2),
    ...idsOf(3, 1_203).flatMap((id) => [defined(id), done(id)]),
    done(2),
  ]);
  expect([...state.releases.keys()]).toEqual([1, 2, ...idsOf(205, 1_203)]);
  expect(pendingReleases(state).map(({ id }) => id)).toEqual([1]);
  expect(state).toMatchObject({ lastId: 1_203, doneActions: 0 });
});

it('remembers those with 50,000 actions in all, and the last one', () => {
  const state = stateOf(idsOf(1, 60).flatMap((id) => [defined(id), filled(id, 1_000), done(id)]));
  expect([...state.releases.keys()]).toEqual(idsOf(11, 60));
  const large = stateOf([defined(1), filled(1, 60_000), done(1), defined(2), filled(2, 60_000), done(2)]);
  expect([...large.releases.keys()]).toEqual([2]);
  expect(large.doneActions).toBe(60_000);
});

it('counts a release that is defined again or removed as not carried out', () => {
  const state = stateOf([defined(1), filled(1, 3), done(1), defined(2), filled(2, 4), done(2)]);
  expect(state.doneActions).toBe(7);
  const again = stateOf([
    defined(1),
    filled(1, 3),
    done(1),
    defined(1),
    { type: 'release-removed', data: { id: 9 } },
  ]);
  expect(pendingReleases(again).map(({ id, actions }) => [id, actions.length])).toEqual([[1, 3]]);
  expect(again.doneActions).toBe(0);
});
