import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { startFleet } from '../support/fleet.ts';
import { createReleaseRounds, describeShown, type Round, type Shown } from '../support/release-rounds.ts';
import {
  addRelease,
  articleTypes,
  draft,
  type ShownRelease,
  SOON_MS,
  untilStatus,
} from '../support/released-articles.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * Releases of the property, and their entries at most. `RELEASES=1000 RELEASE_ENTRIES=500` takes half an hour, and prints when reads showed
 * the releases.
 */
const RELEASES = Number(process.env['RELEASES'] ?? 8);
const MOST_ENTRIES = Number(process.env['RELEASE_ENTRIES'] ?? 100);
const SEED = Number(process.env['SEED'] ?? 14);
const TIMEOUT_MS = 300_000 + RELEASES * 30_000;
/** Releases that a round with a fault schedules one shortly after the other. */
const AT_ONCE = Math.min(16, Math.ceil(RELEASES / 4));

const ONE: Round = { fault: 'none', releases: 1, most: 1 };
const ROUNDS: readonly Round[] = [
  ONE,
  { fault: 'kill', releases: AT_ONCE, most: MOST_ENTRIES },
  { fault: 'none', releases: 1, most: MOST_ENTRIES, entries: MOST_ENTRIES },
  { fault: 'pause', releases: AT_ONCE, most: MOST_ENTRIES },
];

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
      `carries each of ${RELEASES} random releases out once, and no reader sees a part`,
      async () => {
        console.log(`SEED=${SEED}`);
        const fleet = await startFleet({ size: 2, contentTypes: types.folder });
        onTestFinished(fleet.dispose);
        const rounds = await createReleaseRounds(fleet, { articles: 2 * MOST_ENTRIES, seed: SEED });
        const shown: Shown[] = [];
        for (let n = 0; shown.length < RELEASES; n++)
          shown.push(...(await rounds.run(ROUNDS[n % ROUNDS.length] ?? ONE)));
        await rounds.checkLog();
        for (const line of describeShown(shown)) console.log(line);
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
