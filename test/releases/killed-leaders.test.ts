import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { pauseMember } from '../support/pause-member.ts';
import {
  addRelease,
  articleTypes,
  draft,
  inMs,
  type ShownRelease,
  SOON_MS,
  untilStatus,
} from '../support/released-articles.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of releases of the property, and their entries. */
const ROUNDS = Number(process.env['RELEASE_ROUNDS'] ?? 9);
const MOST_ENTRIES = Number(process.env['RELEASE_ENTRIES'] ?? 500);
const TIMEOUT_MS = 300_000 + ROUNDS * 60_000;
const FAULTS = ['none', 'kill', 'pause'] as const;
/** Drafts that are created at the same time. */
const AT_ONCE = 20;

let types: ReturnType<typeof articleTypes>;
beforeAll(() => {
  types = articleTypes();
});
afterAll(() => types.remove());

describe(
  'releases over kill -9, pauses and other leaders',
  takesMinutes('releases of killed leaders'),
  () => {
    it(
      `carries each of ${ROUNDS} random releases out once, and no reader sees a part`,
      async () => {
        const fleet = await startFleet({ size: 2, contentTypes: types.folder });
        onTestFinished(fleet.dispose);
        let before: Batch = { name: 'none', ids: [] };
        for (let round = 0; round < ROUNDS; round++) {
          const fault = FAULTS[round % FAULTS.length] ?? 'none';
          before = await releaseBatch(fleet, before, { round, fault });
        }
        await checkLog(fleet.eventStore);
      },
      TIMEOUT_MS,
    );

    it(
      'carries out what it has missed while it was down, in order',
      async () => {
        const data = dataForTest();
        const options = { data, contentTypes: types.folder };
        const first = await startServer(options);
        onTestFinished(() => first.dispose());
        const client = createApiClient(first.url);
        const id = await draft(client, { title: 'a' });
        const publish = await addRelease(client, { name: 'first' }, [id]);
        const soon = Date.now() + 2 * SOON_MS;
        const at = (ms: number) => new Date(soon + ms).toISOString();
        const head = { name: 'first', scheduledAt: at(0) };
        await client.data('PUT', `/_varve/releases/${publish.id}`, { data: head });
        const { data: unpublish } = await client.call<ShownRelease>(
          'POST',
          `/api/articles/${id}/actions/unpublish`,
          { data: { at: at(100) } },
        );
        await first.stop('SIGKILL');
        await delay(Math.max(0, soon + 1_000 - Date.now()));
        const second = await startServer(options);
        onTestFinished(() => second.dispose());
        const again = createApiClient(second.url);
        const done = await Promise.all(
          [publish.id, unpublish.id].map((each) => untilStatus(again, each, 'done')),
        );
        expect(done.every(({ lateMs }) => (lateMs ?? 0) >= 900)).toBe(true);
        expect((await again.call('GET', `/api/articles/${id}`)).status).toBe(404);
        const versions = await again.data<{ readonly action: string }[]>(
          'GET',
          `/api/articles/${id}/versions`,
        );
        expect(versions.map(({ action }) => action)).toEqual(['unpublish', 'publish', 'create']);
      },
      TIMEOUT_MS,
    );
  },
);

type Batch = { readonly name: string; readonly ids: readonly string[] };
type Round = { readonly round: number; readonly fault: (typeof FAULTS)[number] };

/** Publishes a new batch and unpublishes the one before, while the leader is killed or paused, and readers look. */
async function releaseBatch(fleet: TestFleet, before: Batch, { round, fault }: Round): Promise<Batch> {
  const leader = await fleet.leader();
  const client = createApiClient(leader.server().url);
  const size = round === 0 ? 1 : 1 + Math.floor(Math.random() * MOST_ENTRIES);
  const batch = { name: `batch ${round}`, ids: await createBatch(client, `batch ${round}`, size) };
  const release = await addRelease(client, { name: batch.name }, batch.ids);
  const removed = before.ids.map((entryDocumentId) => ({
    type: 'unpublish',
    contentType: 'api::article.article',
    entryDocumentId,
  }));
  if (removed.length > 0)
    await client.data('POST', `/_varve/releases/${release.id}/actions/bulk`, { data: removed });
  const scheduledAt = inMs(2_000);
  await client.data('PUT', `/_varve/releases/${release.id}`, { data: { name: batch.name, scheduledAt } });
  const at = Date.parse(scheduledAt);
  const readers = fleet.members.map((member) => watchBatches(member, [before, batch]));
  const harmed = harm(fleet, leader, { fault, at });
  const seen = await Promise.all(readers);
  await harmed;
  const done = await untilStatus(createApiClient((await fleet.leader()).server().url), release.id, 'done');
  const visible = Math.min(...seen.map(({ firstAt }) => firstAt)) - at;
  console.log(
    `release of ${size} + ${before.ids.length}, ${fault}: visible ${visible} ms after its time, lateMs ${done.lateMs}`,
  );
  return batch;
}

async function createBatch(client: ApiClient, batch: string, size: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < size) {
    const some = Array.from(
      { length: Math.min(AT_ONCE, size - ids.length) },
      (_, n) => `${batch}, ${ids.length + n}`,
    );
    ids.push(...(await Promise.all(some.map((title) => draft(client, { title, batch })))));
  }
  return ids;
}

/** Reads until the new batch is published. Each answer must have all of one batch and nothing of the other. */
async function watchBatches(member: Member, [before, after]: readonly [Batch, Batch]) {
  const query = [before, after]
    .map(({ name }, n) => `filters[batch][$in][${n}]=${encodeURIComponent(name)}`)
    .join('&');
  const total = async (): Promise<
    { readonly total: number; readonly newest: string | undefined } | undefined
  > => {
    try {
      const answer = await fetch(
        `${member.server().url}/api/articles?${query}&sort=batch:desc&pagination[pageSize]=1&fields=batch`,
        { signal: AbortSignal.timeout(1_000) },
      );
      if (answer.status !== 200) return undefined;
      const { data, meta } = (await answer.json()) as {
        readonly data: readonly { readonly batch: string }[];
        readonly meta: { readonly pagination: { readonly total: number } };
      };
      return { total: meta.pagination.total, newest: data.find(({ batch }) => batch === after.name)?.batch };
    } catch {
      // The process is killed, paused or starting.
      return undefined;
    }
  };
  for (;;) {
    const asked = await total();
    const now = Date.now();
    if (asked !== undefined) {
      const isNew =
        asked.newest !== undefined || before.ids.length === 0
          ? asked.total > 0 && asked.newest !== undefined
          : false;
      expect(asked.total).toBe(isNew ? after.ids.length : before.ids.length);
      if (isNew) return { firstAt: now };
    }
    await delay(2);
  }
}

async function harm(
  fleet: TestFleet,
  leader: Member,
  { fault, at }: { readonly fault: Round['fault']; readonly at: number },
): Promise<void> {
  if (fault === 'none') return;
  await delay(Math.max(0, at - Date.now() - 100 + Math.random() * 250));
  if (fault === 'kill') {
    await leader.end('SIGKILL');
    await fleet.leader();
    await leader.start();
    return;
  }
  await pauseMember(fleet, leader);
  const other = fleet.members.find((member) => member !== leader);
  if (other !== undefined) await fleet.becomesLeader(other);
  leader.server().signal('SIGCONT');
}

/** Each entry was published once by a release, and each release was carried out once, in one piece of the log. */
async function checkLog(eventStore: string): Promise<void> {
  const log = openSqliteEventStore(eventStore.replace(/^sqlite:/, ''), { space: 'varve', reads: 'look' });
  const events: StoredEvent[] = [];
  for await (const some of log.readAll(0n)) events.push(...some);
  await log.close();
  const done = events.filter(({ type }) => type === 'release-done');
  expect(done.map(({ data }) => (data as { readonly id: number }).id)).toEqual(done.map((_, n) => n + 1));
  expect(done).toHaveLength(ROUNDS);
  const effects = events.filter(({ type }) => type === 'entry-published' || type === 'entry-unpublished');
  expect(new Set(effects.map(({ stream, type }) => `${stream} ${type}`)).size).toBe(effects.length);
  for (const { position, data, metadata } of done) {
    const { published, unpublished } = data as { readonly published: number; readonly unpublished: number };
    const size = published + unpublished;
    const own = effects.filter((event) => event.metadata.command?.id === metadata.command?.id);
    expect(own.map((event) => event.position)).toEqual(
      Array.from({ length: size }, (_, n) => position - BigInt(size - n)),
    );
  }
}
