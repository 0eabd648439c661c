import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import type { Member } from '../support/fleet.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { created, isReady, listOf, watchReads } from '../support/restored-content.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** An older copy of the log is put back under processes that read Elasticsearch. Their indices show lost entries then. */
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
let run = 0;

const startOn = async (eventStore: string): Promise<ElasticsearchFleet> => {
  run += 1;
  const size = { projects: 0, serves: 2, apis: 1 };
  const fleet = await startElasticsearchFleet({
    ...size,
    url: await elasticsearchUrl(),
    space: `restored_${process.pid}_${run}`,
    eventStore,
    arguments: ['--access-key', ACCESS_KEY],
  });
  onTestFinished(fleet.dispose);
  return fleet;
};

const all = ({ serves, apis }: ElasticsearchFleet): readonly Member[] => [...serves, ...apis];
const keysOf = async (member: Member) => (await listOf(member.server().url)).keys;
const untilReady = async (members: readonly Member[]) => {
  for (const member of members)
    await expect.poll(() => isReady(member.server().url), { timeout: 60_000 }).toBe(true);
};

/** Fills the log. `copy` is called when it has the entries that are kept. */
const fill = async (fleet: ElasticsearchFleet, copy: () => Promise<void>): Promise<void> => {
  const { url } = (await fleet.leader()).server();
  await created(url, 'kept');
  const freed = await created(url, 'freed');
  await copy();
  const leader = (await fleet.leader()).server().url;
  await fetch(`${leader}/api/tags/${freed}`, { method: 'DELETE' });
  await created(leader, 'lost');
  for (const member of all(fleet))
    await expect.poll(() => keysOf(member), { timeout: 60_000 }).toEqual(['kept', 'lost']);
};

/** Another process becomes the leader. Elasticsearch then names its claim, which the copy does not have. */
const changeLeader = async (fleet: ElasticsearchFleet): Promise<void> => {
  const before = await fleet.leader();
  await before.end('SIGTERM');
  expect((await fleet.leader()).name).not.toBe(before.name);
  await before.start();
};

/** Ends the leader last: a standby that outlives it would claim the lease, and the copy would not have this claim. */
const endAll = async (fleet: ElasticsearchFleet): Promise<void> => {
  const leader = await fleet.leader();
  const others = all(fleet).filter((member) => member !== leader);
  await Promise.all(others.map((member) => member.end('SIGTERM')));
  await leader.end('SIGTERM');
};

/** Each process that is ready shows the restored log: at once, and after a write. */
const showTheCopy = async (fleet: ElasticsearchFleet, reads: readonly ReturnType<typeof watchReads>[]) => {
  await untilReady(all(fleet));
  await created((await fleet.leader()).server().url, 'new');
  for (const member of all(fleet))
    await expect.poll(() => keysOf(member), { timeout: 60_000 }).toEqual(['kept', 'freed', 'new']);
  const read = await Promise.all(reads.map((end) => end()));
  expect(read.map(({ wrong }) => [...new Set(wrong)])).toEqual(read.map(() => []));
  expect(Math.min(...read.map(({ rounds }) => rounds))).toBeGreaterThan(0);
  for (const member of all(fleet))
    expect(await Promise.race([member.server().exited, delay(0, 'runs')])).toBe('runs');
};

const options = await needsElasticsearch(takesMinutes('restored logs on Elasticsearch'));
describe('processes that read Elasticsearch serve the restored log', options, () => {
  test.each([
    { server: '24.2', isPushed: false, changes: false },
    { server: '26.1', isPushed: true, changes: true },
  ] as const)(
    'of KurrentDB $server, running, others’ records: $isPushed, another leader: $changes',
    { timeout: 240_000 },
    async ({ server, isPushed, changes }) => {
      const double = await startKurrentDbDouble({ server });
      onTestFinished(double.stop);
      const fleet = await startOn(double.url);
      let restore = () => {};
      await fill(fleet, async () => {
        restore = double.log.backUp();
        if (changes) await changeLeader(fleet);
      });
      await double.restore(() => {
        restore();
        if (isPushed) double.log.addForeign(500, 97);
      });
      await showTheCopy(fleet, all(fleet).map(watchReads));
    },
  );

  test('of an SQLite file that was put back', { timeout: 240_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-restored-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [file, copy] = [join(folder, 'log', 'events.db'), join(folder, 'copy.db')];
    mkdirSync(dirname(file));
    const fleet = await startOn(`sqlite:${file}`);
    await fill(fleet, async () => {
      const db = new DatabaseSync(file);
      db.exec(`VACUUM INTO '${copy}'`);
      db.close();
    });
    await endAll(fleet);
    for (const name of readdirSync(dirname(file)).filter((each) => each.startsWith('events.db')))
      rmSync(join(dirname(file), name));
    cpSync(copy, file);
    // A start refuses the file, and says that an operator who wants it has to remove these.
    for (const { data } of fleet.serves)
      for (const name of readdirSync(data))
        if (/^(graph|generations)/.test(name)) rmSync(join(data, name), { recursive: true });
    await Promise.all(all(fleet).map((member) => member.start()));
    await showTheCopy(fleet, all(fleet).map(watchReads));
  });
});
