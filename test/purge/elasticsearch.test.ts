import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import type { Member } from '../support/fleet.ts';
import { pauseMember } from '../support/pause-member.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 60_000 };
/** Time after which each change is purged again. */
const AGAIN_MS = 5_000;
/** Longer than a process lets caches keep answers without reading whether a leader purges them. */
const PAUSE_MS = 3_000;

let fleet: ElasticsearchFleet;
let receiver: Receiver;
let isRefusing = false;
let purges: { readonly at: number; readonly tags: readonly string[]; readonly position: bigint }[];
let [documentId, path] = ['', ''];

const [first, second] = [() => fleet.apis[0] as Member, () => fleet.apis[1] as Member];
const plain = () => `tags:${documentId}`;
const purgedAt = (tag: string, since: number) =>
  purges.find(({ at, tags }) => at >= since && tags.includes(tag))?.at;

/** Reads an answer like a shared cache. */
async function read(member: Member, of = path) {
  const answer = await fetch(member.server().url + of);
  const rule = answer.headers.get('cache-control') ?? '';
  return { text: await answer.text(), isKept: rule.includes('s-maxage'), headers: answer.headers };
}

/** Writes, and resolves to the position of the write. */
async function write(member: Member, key: string): Promise<bigint> {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': `key-${key.replaceAll(' ', '-')}`,
  };
  let position = 0n;
  const put = () =>
    fetch(member.server().url + path, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ data: { key, name: key } }),
    }).then(
      (answer) => {
        position = BigInt(answer.headers.get('varve-position') ?? 0);
        return answer.status;
      },
      () => 0,
    );
  await expect.poll(put, PATIENT).toBe(200);
  return position;
}

type Seen = { readonly at: number; readonly isOld: boolean };

/** Reads without a pause until the signal is aborted. `isOld`: a cache would keep the answer, although it lacks a text. */
async function readOn(member: Member, text: string, signal: AbortSignal): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  while (!signal.aborted) {
    const at = performance.now();
    const answer = await read(member);
    seen.push({ at, isOld: answer.isKept && !answer.text.includes(text) });
  }
  return seen;
}

const keepsAll = (members: readonly Member[]) =>
  expect
    .poll(
      async () => (await Promise.all(members.map((one) => read(one)))).every(({ isKept }) => isKept),
      PATIENT,
    )
    .toBe(true);

describe(
  'purges of caches before varve api',
  await needsElasticsearch(takesMinutes('purges on Elasticsearch')),
  () => {
    beforeAll(async () => {
      receiver = await startReceiver();
      purges = [];
      receiver.answer(({ json }) => {
        if (isRefusing) return { status: 503 };
        const position = BigInt(String(json['position']));
        purges.push({ at: performance.now(), tags: json['tags'] as string[], position });
        return { status: 200 };
      });
      fleet = await startElasticsearchFleet({
        url: await elasticsearchUrl(),
        space: `purges_${process.pid}`,
        projects: 2,
        apis: 2,
        env: { VARVE_PURGE: `webhook=${receiver.url}`, VARVE_CACHE_TAGS: 'varnish' },
      });
      const answer = await fetch(`${first().server().url}/api/tags`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data: { key: 'a', name: 'a' } }),
      });
      documentId = ((await answer.json()) as { data: { documentId: string } }).data.documentId;
      path = `/api/tags/${documentId}`;
    }, 240_000);
    afterAll(async () => {
      await fleet?.dispose();
      await receiver?.close();
    });
    beforeEach(async () => {
      await keepsAll(fleet.apis);
      // A leader purges everything at its start, and again 5 s later. This includes earlier writes.
      const lastPurge = () => purges.at(-1)?.at ?? Number.POSITIVE_INFINITY;
      await expect.poll(() => performance.now() - lastPurge(), PATIENT).toBeGreaterThan(6_000);
    }, 300_000);

    it('are sent after searches show the change, and again five seconds later', async () => {
      const reading = new AbortController();
      const readers = Array.from({ length: 8 }, (_, n) =>
        readOn(n % 2 === 0 ? first() : second(), '"name":"b"', reading.signal),
      );
      const position = await write(second(), 'b');
      const purge = () => purges.find((one) => one.position >= position && one.tags.includes(plain()))?.at;
      await expect.poll(purge, PATIENT).toBeDefined();
      await delay(500);
      reading.abort();
      const seen = (await Promise.all(readers)).flat();
      expect(seen.some(({ isOld }) => isOld)).toBe(true);
      // Every answer after the purge must be new.
      const after = seen.filter(({ at }) => at > (purge() ?? 0));
      expect(after.length).toBeGreaterThan(0);
      expect(after.filter(({ isOld }) => isOld)).toEqual([]);
      const once = purge() ?? 0;
      await expect.poll(() => purgedAt(plain(), once + AGAIN_MS), PATIENT).toBeDefined();
    }, 300_000);

    it('name the tags of changed answers, and not the tag of all answers', async () => {
      let edits = 0;
      const purgedTags = async () => {
        const tags = (await read(first())).headers.get('xkey')?.split(' ') ?? [];
        const since = performance.now();
        await write(second(), `edit ${edits++}`);
        await expect.poll(() => purgedAt(plain(), since), PATIENT).toBeDefined();
        const sent = new Set(purges.filter(({ at }) => at >= since).flatMap((one) => one.tags));
        return tags.map((tag) => sent.has(tag));
      };
      // A new leader may be announced late on a busy machine. Then everything is purged as well.
      await expect.poll(purgedTags, PATIENT).toEqual([false, true]);
    }, 300_000);

    it('never let a cache keep an answer that is ranked by words', async () => {
      const ranked = await read(first(), '/api/tags?search=edit');
      expect(ranked.text).toContain(`"documentId":"${documentId}"`);
      expect(ranked.isKept).toBe(false);
      const isKept = async () => (await read(first(), '/api/tags?sort=name')).isKept;
      await expect.poll(isKept, PATIENT).toBe(true);
    });

    it('let caches keep no old answer of a process that was paused', async () => {
      await pauseOf(second());
      const since = performance.now();
      await write(first(), 'c');
      // Nobody waits for the paused process.
      await expect.poll(() => purgedAt(plain(), since), PATIENT).toBeDefined();
      await delay(PAUSE_MS);
      const late = Array.from({ length: 20 }, () => read(second()));
      second().server().signal('SIGCONT');
      const seen = await Promise.all(late);
      expect(seen.filter(({ text, isKept }) => isKept && !text.includes('"name":"c"'))).toEqual([]);
    }, 300_000);

    it('are continued by the next leader, which purges everything first', async () => {
      for (const how of ['SIGKILL', 'SIGSTOP'] as const) {
        const [all = ''] = (await read(first())).headers.get('xkey')?.split(' ') ?? [];
        const leader = await fleet.leader();
        // The leader ends before it has made this purge.
        isRefusing = true;
        await write(first(), `${how}-unpurged`);
        const since = performance.now();
        if (how === 'SIGKILL') await leader.end('SIGKILL');
        else await pauseMember(fleet, leader);
        isRefusing = false;
        await write(first(), `${how}-f`);
        await expect.poll(() => purgedAt(all, since), PATIENT).toBeDefined();
        // Everything is purged once more, for answers that were in flight.
        const once = purgedAt(all, since) ?? 0;
        await expect.poll(() => purgedAt(all, once + 1), PATIENT).toBeDefined();
        await keepsAll(fleet.apis);
        const next = performance.now();
        await write(first(), `${how}-g`);
        await expect.poll(() => purgedAt(plain(), next), PATIENT).toBeDefined();
        expect((await read(second())).text).toContain(`"name":"${how}-g"`);
        if (how === 'SIGKILL') await leader.start();
        else leader.server().signal('SIGCONT');
      }
    }, 240_000);
  },
);

/** Pauses a process. Resolves when it is paused. */
async function pauseOf(member: Member): Promise<void> {
  member.server().signal('SIGSTOP');
  await delay(50);
}
