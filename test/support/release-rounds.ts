import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { createApiClient } from './api-client.ts';
import type { Member, TestFleet } from './fleet.ts';
import { createRandom, type Random } from './naive-random.ts';
import { pauseMember } from './pause-member.ts';
import { ARTICLE, type ShownRelease, SOON_MS } from './released-articles.ts';

export type Fault = 'none' | 'kill' | 'pause';

/** Releases that are scheduled one shortly after the other, each with up to `most` entries or exactly `entries`. */
export type Round = {
  readonly fault: Fault;
  readonly releases: number;
  readonly most: number;
  readonly entries?: number;
};

/** A release that all members have shown: milliseconds from its time until the leader, and the last member, showed it. */
export type Shown = {
  readonly fault: Fault;
  readonly entries: number;
  readonly onLeader: number;
  readonly onAll: number;
};

type Action = { readonly type: 'publish' | 'unpublish'; readonly entryDocumentId: string };
type Planned = { readonly actions: readonly Action[] };
type Created = { readonly documentId: string };
type Scheduled = Planned & { readonly id: number; readonly at: number };

export type ReleaseRounds = {
  run(round: Round): Promise<readonly Shown[]>;
  /** Checks that the log has each release once, with exactly its entries, in one piece. */
  checkLog(): Promise<void>;
};

const GROUPS = 20;
/** Drafts that are created at the same time. */
const AT_ONCE = 20;
/** Maximum time between two releases of a round. */
const MOST_APART_MS = 200;

/** Creates drafts in a fleet. Each release of a round publishes some of those that are not published, and unpublishes others. */
export async function createReleaseRounds(
  fleet: TestFleet,
  { articles, seed }: { readonly articles: number; readonly seed: number },
): Promise<ReleaseRounds> {
  const random = createRandom(seed);
  const groups = new Map<string, string>();
  while (groups.size < articles) {
    const some = Array.from({ length: Math.min(AT_ONCE, articles - groups.size) }, async () => {
      const batch = `g${random.between(1, GROUPS)}`;
      const path = '/api/articles?status=draft';
      const { documentId } = await ask<Created>(fleet, 'POST', path, () => ({ title: 'a', batch }));
      return [documentId, batch] as const;
    });
    for (const [id, batch] of await Promise.all(some)) groups.set(id, batch);
  }
  const done: Scheduled[] = [];
  let published: ReadonlySet<string> = new Set();
  return {
    async run(round) {
      const states = [published];
      const planned: Planned[] = [];
      for (let n = 0; n < round.releases; n++) {
        const actions = planActions(random, [...groups.keys()], published, round);
        published = afterActions(published, actions);
        states.push(published);
        planned.push({ actions });
      }
      const scheduled = await schedule(fleet, planned, random);
      const leader = await fleet.leader();
      done.push(...scheduled);
      const prints = states.map((state) => fingerprint(state, groups));
      const first = Math.min(...scheduled.map(({ at }) => at));
      const readers = fleet.members.map((member) => watch(member, prints, first));
      const harmed = harm(
        fleet,
        leader,
        round.fault,
        random.pick(scheduled).at - 100 + random.between(0, 250),
      );
      const seen = await Promise.all(readers);
      await harmed;
      const own = seen[fleet.members.indexOf(leader)] ?? [];
      for (const { id } of scheduled) await untilDone(fleet, id);
      return scheduled.map(({ at, actions }, n) => ({
        fault: round.fault,
        entries: actions.length,
        onLeader: (own[n + 1] ?? 0) - at,
        onAll: Math.max(...seen.map((times) => times[n + 1] ?? 0)) - at,
      }));
    },
    checkLog: () => checkLog(fleet.eventStore, done),
  };
}

/**
 * Sends a request to the leader, and again while a busy machine leaves the fleet without one, or if a time passed before it arrived. `data`:
 * called for each attempt, because the one before may have been stored.
 */
async function ask<Data>(fleet: TestFleet, method: string, path: string, data?: () => object): Promise<Data> {
  for (;;) {
    const client = createApiClient((await fleet.leader()).server().url);
    const answer = await client.call<Data>(method, path, data && { data: data() });
    if (answer.status === 503 || answer.error?.message.includes('must be later than now')) continue;
    if (answer.error?.message !== 'Release already published')
      expect(answer.error, `${method} ${path}`).toBeUndefined();
    return answer.data;
  }
}

function planActions(
  random: Random,
  ids: readonly string[],
  published: ReadonlySet<string>,
  { most, entries = random.between(1, most) }: Round,
): readonly Action[] {
  const chosen = new Set<string>();
  while (chosen.size < entries) chosen.add(random.pick(ids));
  return [...chosen].map((entryDocumentId) => ({
    type: published.has(entryDocumentId) ? 'unpublish' : 'publish',
    entryDocumentId,
  }));
}

function afterActions(published: ReadonlySet<string>, actions: readonly Action[]): ReadonlySet<string> {
  const after = new Set(published);
  for (const { type, entryDocumentId } of actions)
    if (type === 'publish') after.add(entryDocumentId);
    else after.delete(entryDocumentId);
  return after;
}

/** Adds the releases, and gives each its time when all have their entries. */
async function schedule(
  fleet: TestFleet,
  planned: readonly Planned[],
  random: Random,
): Promise<readonly Scheduled[]> {
  const added: (Planned & { readonly id: number })[] = [];
  for (const release of planned) {
    const name = () => ({ name: randomUUID() });
    const { id } = await ask<ShownRelease>(fleet, 'POST', '/_varve/releases', name);
    const actions = release.actions.map((action) => ({ ...action, contentType: ARTICLE }));
    await ask(fleet, 'POST', `/_varve/releases/${id}/actions/bulk`, () => actions);
    added.push({ ...release, id });
  }
  const scheduled: Scheduled[] = [];
  let at = 0;
  for (const release of added) {
    await ask(fleet, 'PUT', `/_varve/releases/${release.id}`, () => {
      at = Math.max(at + random.between(0, MOST_APART_MS), Date.now() + SOON_MS);
      return { name: `release ${release.id}`, scheduledAt: new Date(at).toISOString() };
    });
    scheduled.push({ ...release, at });
  }
  return scheduled;
}

async function untilDone(fleet: TestFleet, id: number): Promise<void> {
  while ((await ask<ShownRelease>(fleet, 'GET', `/_varve/releases/${id}`)).status !== 'done') await delay(20);
}

/** Returns the number of published entries of each group: equal for equal states. */
function fingerprint(published: ReadonlySet<string>, groups: ReadonlyMap<string, string>): string {
  const counts = new Map<string, number>();
  for (const id of published) {
    const group = groups.get(id) ?? '';
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return printOf(counts);
}

function printOf(counts: Iterable<readonly [string, number]>): string {
  return [...counts]
    .map(([group, count]) => `${group}:${count}`)
    .sort()
    .join();
}

/** Reads until the last state is shown, more often from `first` on. Each answer must be a state, not earlier than the one before. Returns when each was shown. */
async function watch(member: Member, prints: readonly string[], first: number): Promise<readonly number[]> {
  const times: number[] = [];
  while (times.length < prints.length) {
    const shown = await readPrint(member);
    if (shown !== undefined) {
      const from = Math.max(0, times.length - 1);
      const at = prints.indexOf(shown, from);
      expect(
        at,
        `${member.name} shows ${shown}, which is none of ${prints.slice(from).join(' or ')}`,
      ).not.toBe(-1);
      const now = Date.now();
      while (times.length <= at) times.push(now);
    }
    await delay(Date.now() < first - SOON_MS / 20 ? 20 : 2);
  }
  return times;
}

type Facets = { readonly meta: { readonly facets: { readonly batch: Readonly<Record<string, number>> } } };

async function readPrint(member: Member): Promise<string | undefined> {
  try {
    const path = '/api/articles?facets=batch&pagination[pageSize]=1&fields=batch';
    const answer = await fetch(member.server().url + path, { signal: AbortSignal.timeout(1_000) });
    if (answer.status !== 200) return undefined;
    const { meta } = (await answer.json()) as Facets;
    return printOf(Object.entries(meta.facets.batch));
  } catch {
    // The process is killed, paused or starting.
    return undefined;
  }
}

async function harm(fleet: TestFleet, leader: Member, fault: Fault, at: number): Promise<void> {
  if (fault === 'none') return;
  await delay(Math.max(0, at - Date.now()));
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

async function checkLog(eventStore: string, releases: readonly Scheduled[]): Promise<void> {
  const log = openSqliteEventStore(eventStore.replace(/^sqlite:/, ''), { space: 'varve', reads: 'look' });
  const events: StoredEvent[] = [];
  for await (const some of log.readAll(0n)) events.push(...some);
  await log.close();
  const isEffect = ({ type }: StoredEvent) => type === 'entry-published' || type === 'entry-unpublished';
  const done = events.filter(({ type }) => type === 'release-done');
  expect(done.map(({ data }) => (data as { readonly id: number }).id)).toEqual(releases.map(({ id }) => id));
  const effects = events.filter(isEffect);
  expect(effects).toHaveLength(releases.reduce((sum, { actions }) => sum + actions.length, 0));
  for (const [n, { position }] of done.entries()) {
    const { actions } = releases[n] ?? { actions: [] };
    const own = events.slice(Number(position) - 1 - actions.length, Number(position) - 1);
    expect(own.map(({ position: each }) => each)).toEqual(
      actions.map((_, m) => position - BigInt(actions.length - m)),
    );
    const named = own.map(({ type, stream }) => `${type} ${stream.slice(stream.lastIndexOf('-') + 1)}`);
    const wanted = actions.map(({ type, entryDocumentId }) => `entry-${type}ed ${entryDocumentId}`);
    expect(named.sort()).toEqual(wanted.sort());
  }
}

/** Returns lines with the median, the 99th percentile and the maximum of the times, by fault and number of entries. */
export function describeShown(shown: readonly Shown[]): readonly string[] {
  const kinds = Map.groupBy(shown, ({ fault, entries }) =>
    fault === 'none' ? `${entries} entries` : `several, ${fault}`,
  );
  return [...kinds].map(([kind, some]) => {
    const times = (name: 'onLeader' | 'onAll') => {
      const sorted = some.map((each) => each[name]).sort((one, other) => one - other);
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)];
      return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`;
    };
    return `${kind} (${some.length}): on the leader ${times('onLeader')}; on both ${times('onAll')}; load ${loadavg()[0]?.toFixed(1)}`;
  });
}
