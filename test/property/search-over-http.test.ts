import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createShelf, type Shelf } from '../support/searched-shelf.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { type ShelfRequest, shelfEdit, shelfRequest } from '../support/shelf-requests.ts';
import { writeShelf } from '../support/shelf-types.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of requests of all settings together. VARVE_SEARCHES=20000 for a full run. */
const REQUESTS = Number(process.env['VARVE_SEARCHES'] ?? 300);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
/** Number of requests between two rebuilds of both servers. Each setting has at least one rebuild. */
const REBUILD_AFTER = 2_500;
const AT_ONCE = 8;

const SETTINGS: readonly (readonly [string, readonly string[]])[] = [
  ['as by default', []],
  ['nothing copied', ['--denormalise-to-one', '0', '--denormalise-to-many', '0']],
];

const STEPS = 2;
const step = fc.record({
  edits: fc.array(shelfEdit, { minLength: 1, maxLength: 6 }),
  requests: fc.array(shelfRequest, { minLength: 50, maxLength: 150 }),
});

type Side = { readonly server: RunningServer; readonly shelf: Shelf; readonly own: readonly string[] };

describe(
  `searches over HTTP on both engines (seed ${SEED}, ${REQUESTS} requests)`,
  await needsElasticsearch(takesMinutes('random searches over HTTP on both engines')),
  () => {
    describe.each(SETTINGS)('%s', (name, settings) => {
      const types = writeShelf();
      const space = `shelf_${process.pid}_${SETTINGS.findIndex(([each]) => each === name)}`;
      let url: string;
      let sides: readonly [Side, Side];

      beforeAll(async () => {
        url = await elasticsearchUrl();
        const own = ['--read-index', url, '--space', space, ...settings];
        sides = [await start(types, []), await start(types, own)];
      }, 180_000);
      afterAll(async () => {
        for (const { server } of sides ?? []) await server.dispose();
        rmSync(types, { recursive: true, force: true });
        if (url !== undefined) await removeIndices(url, space);
      });

      it('are answered the same, during edits and rebuilds', async () => {
        let [asked, seed, rebuildAt] = [0, SEED, 0];
        while (asked < REQUESTS / SETTINGS.length) {
          // This is not a property of fast-check, which could not shrink a failure: the servers keep what was written.
          for (const { edits, requests } of fc.sample(step, { seed: seed++, numRuns: STEPS })) {
            const [one, other] = await Promise.all(sides.map(({ shelf }) => shelf.edit(edits)));
            expect(other, JSON.stringify(edits)).toEqual(one);
            await compareAnswers(sides, requests);
            asked += requests.length;
          }
          if (asked >= rebuildAt) {
            for (const side of sides) await rebuild(side);
            rebuildAt = asked + REBUILD_AFTER;
          }
        }
      }, 7_200_000);
    });
  },
);

async function start(types: string, own: readonly string[]): Promise<Side> {
  const server = await startServer({ contentTypes: types, arguments: own });
  return { server, shelf: createShelf(server.url), own };
}

async function rebuild({ server, own }: Side): Promise<void> {
  const rebuilt = await runVarve(['rebuild', '--graph', '--data', server.data, ...own]);
  expect(rebuilt).toMatchObject({ code: 0, stdout: expect.stringContaining('is live') });
}

async function compareAnswers(
  sides: readonly [Side, Side],
  requests: readonly ShelfRequest[],
): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const sent = request;
      const [one, other] = await Promise.all(sides.map(({ shelf }) => shelf.ask(sent)));
      const hint = `${sent.path} ${sent.body ?? ''}`;
      expect([200, 400], `${hint} ${JSON.stringify(one)}`).toContain(one?.status);
      expect(other, hint).toEqual(one);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
