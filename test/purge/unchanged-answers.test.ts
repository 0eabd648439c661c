import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEditedSite, type EditedSite, readFrom } from '../support/edited-site.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import type { Member } from '../support/fleet.ts';
import { createRandom } from '../support/naive-random.ts';
import { pauseMember } from '../support/pause-member.ts';
import { runVarve } from '../support/run-varve.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const SEED = Number(process.env['SEED'] ?? 1);
/** Number of pairs of an answer and a change. */
const PAIRS = Number(process.env['UNCHANGED_PAIRS'] ?? 1_000);
/** Number of writes to one document, one after the other. */
const WRITES = 50;
const JSON_TYPE = { 'content-type': 'application/json' };

const random = createRandom(SEED);
const space = `unchanged_${process.pid}`;
let url = '';
let fleet: ElasticsearchFleet;
let receiver: Receiver;
let site: EditedSite;

const [first, second] = [() => fleet.apis[0] as Member, () => fleet.apis[1] as Member];
/** Returns the path of a document that the test requests from both reading processes. */
const aPath = () => `/api/tags/${site.tags()[0]}`;
const nameFrom = async (member: Member, path: string) =>
  ((await (await readFrom(member, path)).json()) as { readonly data: { readonly name: string } }).data.name;
const toTags = (path: string, method = 'GET', body?: unknown) =>
  fetch(`${url}/${space}-tags${path}`, {
    method,
    headers: JSON_TYPE,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Asks a process until it sends 304 for a document without making the answer. Returns the ETag. */
async function remembered(member: Member, path: string): Promise<string> {
  const etag = (await readFrom(member, path)).headers.get('etag') ?? '';
  const more = async () => {
    const before = await site.shortcuts();
    expect((await readFrom(member, path, etag)).status).toBe(304);
    return (await site.shortcuts()) - before;
  };
  await expect.poll(more, { timeout: 60_000 }).toBe(1);
  return etag;
}

async function editAndCompare(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await site.edit();
    await site.compareAll();
  }
}

describe(
  `304 of varve api (seed ${SEED}, ${PAIRS} pairs)`,
  await needsElasticsearch(takesMinutes('304 on Elasticsearch')),
  () => {
    beforeAll(async () => {
      receiver = await startReceiver();
      receiver.answer(() => ({ status: 200 }));
      url = await elasticsearchUrl();
      fleet = await startElasticsearchFleet({
        url,
        space,
        projects: 2,
        apis: 2,
        env: { VARVE_PURGE: `webhook=${receiver.url}`, VARVE_CACHE_TAGS: 'varnish' },
      });
      site = await createEditedSite(fleet, random);
    }, 240_000);
    afterAll(async () => {
      await fleet?.dispose();
      await receiver?.close();
    });

    it(
      'are sent without making the answer, and are never wrong',
      async () => {
        await site.untilKnown();
        const before = await site.shortcuts();
        while (site.counts.pairs < PAIRS) {
          await editAndCompare(1);
          // A pause in which all processes learn the position that searches show.
          if (random.chance(0.1)) await delay(1_100);
        }
        const saved = (await site.shortcuts()) - before;
        const { pairs, unchanged } = site.counts;
        console.log(`${pairs} pairs, ${unchanged} unchanged, ${saved} of them not made`);
        expect(saved).toBeGreaterThan(PAIRS / 50);
      },
      120_000 + PAIRS * 100,
    );

    it('are not followed by a search that shows a change whose tags cannot be read', async () => {
      const path = aPath();
      const block = (isBlocked: boolean) => toTags('/_settings', 'PUT', { 'index.blocks.write': isBlocked });
      await site.send('PUT', path, { name: 'before' });
      expect((await block(true)).ok).toBe(true);
      const writing = site.send('PUT', path, { name: 'after' });
      const seen = new Set<string>();
      for (let n = 0; n < 30; n++) {
        seen.add(await nameFrom(first(), path));
        await delay(50);
      }
      await block(false);
      await writing;
      expect(seen).toEqual(new Set(['before']));
      expect(await nameFrom(first(), path)).toBe('after');
    }, 60_000);

    it('show every acknowledged write, while others write', async () => {
      const path = aPath();
      const versions = new Map<string, number>();
      let [answered, isDone, stale, unchanged] = [0, false, 0, 0];
      const writing = async () => {
        for (let n = 1; n <= WRITES; n++) {
          await site.send('PUT', path, { weight: n });
          answered = n;
        }
        isDone = true;
      };
      const reading = async (member: Member) => {
        let etag: string | undefined;
        while (!isDone) {
          const least = answered;
          const answer = await readFrom(member, path, etag);
          const body = await answer.text();
          if (answer.status === 304) unchanged++;
          else {
            etag = answer.headers.get('etag') ?? '';
            versions.set(etag, (JSON.parse(body) as { data: { weight: number } }).data.weight);
          }
          if ((versions.get(etag ?? '') ?? 0) < least) stale++;
        }
      };
      await Promise.all([writing(), ...fleet.apis.map(reading), ...fleet.apis.map(reading)]);
      expect(unchanged).toBeGreaterThan(0);
      expect(stale).toBe(0);
    }, 240_000);

    it.each(['SIGKILL', 'SIGSTOP', 'SIGKILL', 'SIGSTOP'] as const)(
      'are correct after a leader was ended by %s, and after it is back',
      async (how) => {
        const leader = await fleet.leader();
        if (how === 'SIGKILL') await leader.end('SIGKILL');
        else await pauseMember(fleet, leader);
        await editAndCompare(5);
        await site.untilKnown();
        if (how === 'SIGKILL') await leader.start();
        else leader.server().signal('SIGCONT');
        await editAndCompare(10);
        await site.untilKnown();
      },
      180_000,
    );

    it('are correct after a reading process was killed or paused', async () => {
      for (let round = 0; round < 3; round++) {
        await first().end('SIGKILL');
        await editAndCompare(3);
        await first().start();
        await editAndCompare(3);
        await site.untilKnown();
        const path = aPath();
        const etag = await remembered(first(), path);
        first().server().signal('SIGSTOP');
        const asked = readFrom(first(), path, etag);
        await fetch(second().server().url + path, {
          method: 'PUT',
          headers: JSON_TYPE,
          body: JSON.stringify({ data: { name: `paused ${round}` } }),
        });
        first().server().signal('SIGCONT');
        // The request was sent before the edit, and reads the index after it.
        expect((await asked).status).toBe(200);
        expect((await readFrom(first(), path, etag)).status).toBe(200);
        await site.compareAll();
      }
    }, 240_000);

    it('are correct after the index of the tags was deleted, or an older state of it was restored', async () => {
      const path = aPath();
      const etag = await remembered(first(), path);
      await toTags('/_refresh', 'POST');
      const found = (await (await toTags('/_search')).json()) as {
        readonly hits: { readonly hits: readonly { readonly _id: string; readonly _source: object }[] };
      };
      const [saved] = found.hits.hits;
      first().server().signal('SIGSTOP');
      const edited = await fetch(second().server().url + path, {
        method: 'PUT',
        headers: JSON_TYPE,
        body: JSON.stringify({ data: { name: 'not in the older state' } }),
      });
      expect(edited.status).toBe(200);
      expect((await toTags('', 'DELETE')).ok).toBe(true);
      await site.compareAll([second()]);
      expect((await toTags(`/_doc/${saved?._id}`, 'PUT', saved?._source)).ok).toBe(true);
      first().server().signal('SIGCONT');
      // The state that the process knows is the newest one again. Before, it looks for the live indices.
      await delay(2_500);
      expect((await readFrom(first(), path, etag)).status).toBe(200);
      await site.compareAll();
      await editAndCompare(3);
      await site.untilKnown();
    }, 120_000);

    it('are correct while a rebuild makes other indices and they become live', async () => {
      const { data } = await fleet.leader();
      // Otherwise this process would become the leader during the hand-over.
      const other = fleet.projects.find((one) => one.data !== data);
      await other?.end('SIGTERM');
      let isDone = false;
      const own = ['--data', data, '--event-store', fleet.eventStore, '--read-index', url, '--space', space];
      const rebuilding = runVarve(['rebuild', ...own]).finally(() => {
        isDone = true;
      });
      while (!isDone) await editAndCompare(1);
      const { code, stdout, stderr } = await rebuilding;
      expect(code, stdout + stderr).toBe(0);
      await other?.start();
      await editAndCompare(10);
      await site.untilKnown();
    }, 180_000);
  },
);
