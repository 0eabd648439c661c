import { expect, it, onTestFinished } from 'vitest';
import { createReleaseCommands } from '../../services/releases/release-commands.ts';
import { watchReleases } from '../../services/releases/watch-releases.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createLocks } from '../../shared/locks.ts';
import { type ReleaseEvent, releaseStream } from '../../shared/releases/release-events.ts';

const SPACE = 'varve';
const METADATA = {
  at: '2026-01-01T00:00:00.000Z',
  epoch: 0,
  actor: { kind: 'operator' },
  via: 'test',
} as const;

const defined = (id: number): ReleaseEvent => ({
  type: 'release-defined',
  data: { id, name: `release ${id}`, scheduledAt: null, timezone: null, single: false },
});
const put = (id: number, actions: number): ReleaseEvent => ({
  type: 'release-changed',
  data: { id, put: Array.from({ length: actions }, (_, n) => action(id * 1_000 + n)), removed: [] },
});
const action = (id: number) => ({
  ...{ id, type: 'publish' as const, contentType: 'api::article.article' as const },
  ...{ entryDocumentId: `d${id}`, locale: null },
});
const done = (id: number): ReleaseEvent => ({
  type: 'release-done',
  data: {
    ...{ id, name: `release ${id}`, scheduledAt: null, timezone: null },
    ...{ lateMs: null, published: 0, unpublished: 0 },
  },
});

/** Opens the releases of a log that has these events. */
async function releasesAfter(events: readonly ReleaseEvent[]) {
  const log = openSqliteEventStore(':memory:', { space: SPACE, decode: upcast });
  onTestFinished(() => log.close());
  const stored = events.map((event) => newEvent(event, METADATA));
  await log.append(releaseStream(SPACE), 'none', stored);
  const known = await watchReleases(log, SPACE, () => {});
  onTestFinished(() => known.close());
  const commands = createReleaseCommands({
    ...{ log, space: SPACE, known, now: () => new Date() },
    ...{ lead: () => ({ epoch: 0 }), author: () => ({ actor: { kind: 'operator' } }) },
    locks: createLocks(),
  });
  return { commands, ids: () => commands.list().map(({ id }) => id) };
}

const request = (name: string) => ({ name, scheduledAt: null, timezone: null });
const from = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n);

it('1,000 releases wait at most, and another one can when one of them is removed', async () => {
  const { commands } = await releasesAfter(from(1, 999).map(defined));
  await commands.add(request('the last one'));
  const refused = { code: 'invalid-release', message: expect.stringContaining('1000 pending releases') };
  await expect(commands.add(request('one more'))).rejects.toMatchObject(refused);
  await commands.remove(1);
  expect((await commands.add(request('one more'))).release.id).toBe(1_001);
});

it('a scheduled action on one entry that failed does not count among them', async () => {
  const single = defined(1_000);
  const failed: ReleaseEvent = {
    type: 'release-failed',
    data: { id: 1_000, name: 'release 1000', scheduledAt: null, timezone: null, problems: [] },
  };
  const ofOne = { ...single, data: { ...single.data, single: true } } as ReleaseEvent;
  const { commands } = await releasesAfter([...from(1, 999).map(defined), ofOne, failed]);
  const { id: _, ...entry } = action(1);
  const schedule = { scheduledAt: '2031-01-01T00:00:00.000Z', timezone: null };
  expect((await commands.schedule(entry, schedule)).release.id).toBe(1_001);
  const another = { ...entry, entryDocumentId: 'another' };
  await expect(commands.schedule(another, schedule)).rejects.toMatchObject({ code: 'invalid-release' });
});

it('a release has at most 1,000 actions', async () => {
  const { commands } = await releasesAfter([defined(1), put(1, 999)]);
  expect((await commands.addActions(1, [action(1)])).release.actions).toHaveLength(1_000);
  await expect(commands.addActions(1, [action(2)])).rejects.toMatchObject({ code: 'invalid-release' });
});

it('of those that were carried out, the first are forgotten: above 1,000 releases, and above 50,000 actions', async () => {
  const many = await releasesAfter(from(1, 1_001).flatMap((id) => [defined(id), done(id)]));
  expect(many.ids()).toEqual(from(2, 1_000));
  const large = await releasesAfter(from(1, 51).flatMap((id) => [defined(id), put(id, 1_000), done(id)]));
  expect(large.ids()).toEqual(from(2, 50));
});
