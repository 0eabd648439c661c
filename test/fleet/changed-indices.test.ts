import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createElasticsearchAdmin, type ElasticsearchAdmin } from '../support/elasticsearch-admin.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import type { Member } from '../support/fleet.ts';
import { runVarve } from '../support/run-varve.ts';
import { startSampling } from '../support/sample-reads.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Milliseconds within which every process notices what the leader has noticed: others read its findings each second. */
const NOTICED_WITHIN = 6_000;
const HEALED_WITHIN = 60_000;
const space = `changed_${process.pid}`;
const ALL_TAGS = '/api/tags?fields=key&sort=id&pagination[pageSize]=100';
const TAGS = `${space}-api_tag_tag-published`;

/** A change of the indices that Varve did not make. */
type Cause = {
  readonly name: string;
  readonly make: (admin: ElasticsearchAdmin) => Promise<unknown>;
  /** Ends the cause; undefined: Varve repairs it while it lasts. */
  readonly undo?: (admin: ElasticsearchAdmin) => Promise<unknown>;
  /** Pattern of the line that the leader logs, and of the message of refused reads. */
  readonly reason: RegExp;
  /** True if reads of the type are refused until the index is right again. */
  readonly refusesReads: boolean;
};

const CAUSES: readonly Cause[] = [
  {
    name: 'an older snapshot of an index is restored',
    make: async (admin) => admin.restore(await admin.liveIndex(TAGS)),
    reason: /was restored from a snapshot/,
    refusesReads: true,
  },
  {
    name: 'an older snapshot of all indices is restored, with the progress',
    make: (admin) => admin.restore(`${space}-*`),
    reason: /was restored from a snapshot/,
    refusesReads: true,
  },
  {
    name: 'an index is deleted',
    make: async (admin) => admin.send('DELETE', `/${await admin.liveIndex(TAGS)}`),
    reason: /does not exist any more/,
    refusesReads: true,
  },
  {
    name: 'all indices are deleted',
    make: (admin) => admin.deleteAll(space),
    reason: /does not exist any more/,
    refusesReads: true,
  },
  {
    name: 'an index is closed, and opened again',
    make: async (admin) => admin.send('POST', `/${await admin.liveIndex(TAGS)}/_close`),
    undo: async (admin) => admin.send('POST', `/${await admin.liveIndex(TAGS)}/_open`),
    reason: /is closed: open it/,
    refusesReads: true,
  },
  {
    name: 'an index is closed, and deleted',
    make: async (admin) => admin.send('POST', `/${await admin.liveIndex(TAGS)}/_close`),
    undo: async (admin) => admin.send('DELETE', `/${await admin.liveIndex(TAGS)}`),
    reason: /is closed: open it/,
    refusesReads: true,
  },
  {
    name: 'an index is read-only while a document of it waits',
    make: async (admin) => {
      await block(admin, true);
      expect(await writeTag()).toBe(202);
    },
    undo: (admin) => block(admin, null),
    reason: /is blocked \(read_only\): lift the block/,
    refusesReads: true,
  },
  {
    name: 'an index is read-only while no document of it waits',
    make: (admin) => block(admin, true),
    undo: (admin) => block(admin, null),
    reason: /is blocked \(read_only\): lift the block/,
    refusesReads: false,
  },
  {
    name: 'an alias is moved to another index',
    make: (admin) => moveAlias(admin),
    reason: /aliases were moved: they are moved back/,
    refusesReads: false,
  },
  {
    name: 'the mapping of an index is changed',
    make: async (admin) =>
      admin.send('PUT', `/${await admin.liveIndex(TAGS)}/_mapping`, {
        properties: { foreign: { type: 'keyword' } },
      }),
    reason: /the mapping of its index .* was changed/,
    refusesReads: true,
  },
  {
    name: 'the index of the progress is deleted',
    make: (admin) => admin.send('DELETE', `/${space}-progress`),
    reason: /the index of the progress was removed or replaced/,
    refusesReads: false,
  },
];

async function block(admin: ElasticsearchAdmin, isReadOnly: true | null): Promise<void> {
  await admin.send('PUT', `/${await admin.liveIndex(TAGS)}/_settings`, {
    'index.blocks.read_only': isReadOnly,
  });
}

/** Moves the alias of the tags to the index of another type, which answers without an error. */
async function moveAlias(admin: ElasticsearchAdmin): Promise<void> {
  const [from, to] = [await admin.liveIndex(TAGS), await admin.liveIndex(`${space}-api_chef_chef-published`)];
  const actions = [{ remove: { index: from, alias: TAGS } }, { add: { index: to, alias: TAGS } }];
  await admin.send('POST', '/_aliases', { actions });
}

let fleet: ElasticsearchFleet;
let admin: ElasticsearchAdmin;
let written = 0;

describe(
  'indices that somebody else has changed',
  await needsElasticsearch(takesMinutes('changed indices')),
  () => {
    beforeAll(async () => {
      const url = await elasticsearchUrl();
      admin = await createElasticsearchAdmin(url, space);
      fleet = await startElasticsearchFleet({ url, space, projects: 0, serves: 2, apis: 1 });
    }, 180_000);
    afterAll(async () => {
      await fleet?.dispose();
      await admin?.close();
    });

    it.for(CAUSES)('$name', { timeout: 300_000 }, async (cause, { onTestFailed }) => {
      onTestFailed(() => console.log(lastWords()));
      await writeTag();
      await admin.snapshot();
      await writeTag();
      await Promise.all(members().map((member) => shows(member, HEALED_WITHIN)));
      const leader = await fleet.leader();
      const before = leader.server().output().length;
      const samples = members().map((member) => startSampling(member, ALL_TAGS));
      await cause.make(admin);
      await expect
        .poll(() => leader.server().output().slice(before), { timeout: HEALED_WITHIN })
        .toMatch(cause.reason);
      const noticed = performance.now();
      if (cause.undo !== undefined) {
        await delay(NOTICED_WITHIN);
        await expectOthersGoOn();
        if (cause.refusesReads) await expectRefused(cause.reason);
        const undone = leader.server().output().length;
        await cause.undo(admin);
        await expect
          .poll(() => leader.server().output().slice(undone), { timeout: HEALED_WITHIN })
          .toMatch(/the index can be used again/);
      }
      const healed = members().map((member) => shows(member, HEALED_WITHIN));
      await Promise.all(healed);
      const expected = keysOf(written);
      await delay(1_000);
      for (const sampling of samples) {
        const answers = (await sampling.stop()).filter(({ at }) => at > noticed + NOTICED_WITHIN);
        const wrong = answers.filter(({ status, text }) => status !== 503 && !isAnswer(text, expected));
        expect(wrong).toEqual([]);
      }
      if (cause.refusesReads) expect(samples.some((each) => each.saw(cause.reason))).toBe(true);
      expect(await writeTag()).toBe(201);
      await Promise.all(members().map((member) => shows(member, HEALED_WITHIN)));
      await expectVerified(leader);
    });
  },
);

const members = (): readonly Member[] => [...fleet.serves, ...fleet.apis];

/** Writes a tag through the process that only reads. Returns the status. */
async function writeTag(): Promise<number> {
  written++;
  return post('/api/tags', { key: `t${written}`, name: `Tag ${written}` });
}

async function post(path: string, data: object): Promise<number> {
  const [api] = fleet.apis;
  const answer = await fetch(`${api?.server().url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  await answer.text();
  return answer.status;
}

const keysOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_unused, i) => `t${i + 1}`);

function isAnswer(text: string, keys: readonly string[]): boolean {
  const { data } = JSON.parse(text) as { readonly data: readonly { readonly key: string }[] };
  return JSON.stringify(data.map(({ key }) => key)) === JSON.stringify(keys);
}

/** Resolves when a process shows all tags. */
async function shows(member: Member, timeout: number): Promise<void> {
  const ask = async () => {
    const answer = await fetch(member.server().url + ALL_TAGS);
    const text = await answer.text();
    return answer.status === 200 && isAnswer(text, keysOf(written)) ? 'right' : text;
  };
  await expect.poll(ask, { timeout, interval: 100 }).toBe('right');
}

async function expectOthersGoOn(): Promise<void> {
  const started = performance.now();
  expect(await post('/api/countries', { key: `c${started}`, name: 'Norway' })).toBe(201);
}

async function expectRefused(reason: RegExp): Promise<void> {
  for (const member of members()) {
    const { url } = member.server();
    const answerOf = async (path: string) => {
      const answer = await fetch(url + path);
      return { name: member.name, status: answer.status, text: await answer.text() };
    };
    const text = expect.stringMatching(reason);
    await expect.poll(() => answerOf('/api/tags')).toMatchObject({ status: 503, text });
    // Reads of the other types are answered.
    await expect.poll(() => answerOf('/health/ready')).toMatchObject({ status: 200, text });
    expect((await fetch(`${url}/api/countries`)).status).toBe(200);
  }
}

async function expectVerified(leader: Member): Promise<void> {
  const log = ['--event-store', fleet.eventStore, '--read-index', admin.url, '--space', space];
  const verified = await runVarve(['verify', '--data', leader.data, ...log]);
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
}

/** Returns the end of each process's output. */
function lastWords(): string {
  return members()
    .map(({ name, server }) => `${name}:\n${server().output().slice(-3_000)}`)
    .join('\n');
}
