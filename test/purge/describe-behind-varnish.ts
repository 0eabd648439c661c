import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl } from '../support/elasticsearch.ts';
import { startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { freePort } from '../support/elasticsearch-node.ts';
import type { Member, TestFleet } from '../support/fleet.ts';
import { pauseMember } from '../support/pause-member.ts';
import type { SkipOptions } from '../support/takes-minutes.ts';
import { longWithVarnish, startVarnish } from '../support/varnish.ts';
import {
  createTags,
  editTags,
  expectNothingStale,
  measureSite,
  startReaders,
  untilPurged,
  type VarnishSite,
} from '../support/varnish-site.ts';

/** Number of times that a process is killed or paused. STOPS counts the times that Varnish is stopped for a while. */
const FAULTS = Number(process.env['PURGE_KILLS'] ?? 4);
const STOPS = Number(process.env['PURGE_STOPS'] ?? 1);
const STOP_MS = Number(process.env['PURGE_STOP_MS'] ?? 5_000);
const DOCUMENTS = Number(process.env['PURGE_DOCUMENTS'] ?? 20);
const LOAD_MS = Number(process.env['PURGE_LOAD_MS'] ?? 5_000);
const READS_A_SECOND = Number(process.env['PURGE_READS'] ?? 200);
const EDITS_A_SECOND = Number(process.env['PURGE_EDITS'] ?? 2);
/** Duration of a pause. Longer than a process may let caches keep answers, and longer than a leader's lease. */
const PAUSE_MS = 5_000;
const PATIENT = { timeout: 60_000 };
const TIMEOUT_MS = 300_000 + FAULTS * 40_000 + STOPS * 20_000 + LOAD_MS;

type Processes = Pick<TestFleet, 'eventStore' | 'leader' | 'dispose'> & {
  readonly behind: Member;
  readonly other: Member;
  /** Returns the processes whose answers caches keep. */
  readonly keeping: () => Promise<readonly Member[]>;
  /** Milliseconds after rest within which no answer in the cache may be old. */
  readonly restMs: number;
};

/** A kind of site, with its processes. */
export type SiteKind = {
  readonly name: string;
  readonly needs: (options: SkipOptions) => Promise<SkipOptions>;
  /** Starts the processes. `port`: that of the process behind Varnish. */
  readonly start: (port: number, env: Readonly<Record<string, string>>) => Promise<Processes>;
};

export async function startOnElasticsearch(
  port: number,
  env: Readonly<Record<string, string>>,
  sizes: { readonly projects: number; readonly apis: number; readonly serves: number },
): Promise<Processes> {
  const space = `varnish_${process.pid}_${port}`;
  const fleet = await startElasticsearchFleet({
    url: await elasticsearchUrl(),
    space,
    env,
    ports: [port],
    ...sizes,
  });
  const [behind, other] = sizes.apis > 0 ? fleet.apis : fleet.serves;
  const both = [behind, other] as [Member, Member];
  return { ...fleet, behind: both[0], other: both[1], keeping: async () => both, restMs: 6_000 };
}

export function purgeArguments(env: Readonly<Record<string, string>>): readonly string[] {
  return ['--cache-tags', env['VARVE_CACHE_TAGS'] ?? '', '--purge', env['VARVE_PURGE'] ?? ''];
}

type Site = VarnishSite & { readonly processes: Processes };

/** Starts a site. Calls `opened` with a function that ends each part. */
async function startSite({ start }: SiteKind, opened: (end: () => unknown) => void): Promise<Site> {
  const [port, front] = [await freePort(), await freePort()];
  const env = { VARVE_CACHE_TAGS: 'varnish', VARVE_PURGE: `varnish=http://127.0.0.1:${front}/` };
  const processes = await start(port, env);
  opened(processes.dispose);
  const varnish = await startVarnish(front, port);
  opened(varnish.stop);
  const { behind, other, leader, keeping, restMs } = processes;
  // Every process lets caches keep answers there, and takes writes.
  const writers = restMs > 0 ? [behind, other] : [other];
  let writes = 0;
  const writesTo = () => (writers[writes++ % writers.length] ?? other).server().url;
  const tags = await createTags(writesTo, DOCUMENTS);
  return {
    ...tags,
    varnish,
    processes,
    writesTo,
    url: () => behind.server().url,
    restMs,
    async caughtUp() {
      await expect.poll(async () => keepAll(await keeping(), tags.paths[0] ?? ''), PATIENT).toBe(true);
      await untilPurged(async () => (await leader()).server().url);
    },
  };
}

async function keepAll(members: readonly Member[], path: string): Promise<boolean> {
  const rules = await Promise.all(
    members.map((member) =>
      fetch(member.server().url + path).then(
        ({ headers }) => headers.get('cache-control') ?? '',
        () => '',
      ),
    ),
  );
  return rules.every((rule) => rule.includes('s-maxage'));
}

/** Faults of processes while documents are edited, one after the other. */
const FAULTS_BY_TURNS: readonly ((processes: Processes) => Promise<void>)[] = [
  ({ behind }) => restart(behind),
  async ({ leader }) => restart(await leader()),
  (processes) => pause(processes, processes.behind),
  async (processes) => pause(processes, await processes.leader()),
];

async function restart(member: Member): Promise<void> {
  await member.end('SIGKILL');
  await member.start();
}

async function pause(processes: Processes, member: Member): Promise<void> {
  await pauseMember(processes, member);
  await delay(PAUSE_MS);
  member.server().signal('SIGCONT');
}

/** Tests a kind of site. All tests share one site, since starting its processes takes longer than a test. */
export async function describeBehindVarnish(kind: SiteKind): Promise<void> {
  const options = await kind.needs(longWithVarnish(`${kind.name} behind Varnish`));
  describe(`${kind.name} behind Varnish`, { ...options, timeout: TIMEOUT_MS }, () => {
    let site: Site;
    const ends: (() => unknown)[] = [];
    beforeAll(async () => {
      site = await startSite(kind, (end) => void ends.push(end));
    }, 120_000);
    afterAll(async () => {
      for (const end of ends.reverse()) await end();
    });

    it('serve answers from Varnish, and no stale answer after it has caught up', async () => {
      await site.caughtUp();
      const load = { reads: READS_A_SECOND, edits: EDITS_A_SECOND, ms: LOAD_MS };
      const { hits } = await measureSite(site, load);
      await expectNothingStale(site);
      expect(hits).toBeGreaterThan(0);
    });

    it(`lose no purge in ${FAULTS} kills and pauses, and while Varnish stops ${STOPS} times`, async () => {
      await site.caughtUp();
      const readers = startReaders(site, READS_A_SECOND);
      for (let n = 0; n < FAULTS; n++) {
        const edits = editTags(site, { edits: EDITS_A_SECOND, ms: 2_000 });
        await delay(Math.random() * 1_000);
        await FAULTS_BY_TURNS[n % FAULTS_BY_TURNS.length]?.(site.processes);
        await edits;
        await expectNothingStale(site);
      }
      for (let stop = 0; stop < STOPS; stop++) {
        const edits = editTags(site, { edits: EDITS_A_SECOND, ms: STOP_MS / 2 });
        site.varnish.signal('SIGSTOP');
        await delay(STOP_MS);
        site.varnish.signal('SIGCONT');
        await edits;
        await expectNothingStale(site);
      }
      await readers.stop();
      await delay(site.processes.restMs);
      await expectNothingStale({ ...site, restMs: 0 });
    });
  });
}
