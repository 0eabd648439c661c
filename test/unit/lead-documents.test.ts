import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import { type LeadDocumentsOptions, leadDocuments } from '../../services/elasticsearch/lead-documents.ts';
import { progressInHistory } from '../../services/elasticsearch/progress-in-history.ts';
import type { Report } from '../../services/elasticsearch/report.ts';
import { documentDependencies } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import { createCurrentSet } from '../../shared/read-index/elasticsearch/read/current-set.ts';
import type { IndexProgress } from '../../shared/read-index/index-progress.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { createMemoryDocumentIndex, type MemoryDocumentIndex } from '../support/memory-document-index.ts';
import { created, createLog, DEFINITIONS } from './graph-fixture.ts';

const OLD: IndexSet = { 'v-tag-draft': 'v-tag-draft-1' };
const NEW: IndexSet = { 'v-tag-draft': 'v-tag-draft-2' };
const PROGRESS = {
  index: 'v-progress',
  content: { uuid: 'u', isOpen: true, isAssigned: true, histories: 'h', nodes: 'n', operations: 0 },
};
const TURNS = 50;

const indicesOf = (set: IndexSet) => Object.values(set).join();

/**
 * Creates a process that becomes leader. `isKnown`: it knows which documents of the live indices are stale. `earlier`: the position that
 * an earlier leader has announced. `logFailures`: the number of reads of the log that fail.
 */
function openSetting({ isKnown = false, isNewest = true, earlier = 0n, logFailures = 0 } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-lead-'));
  const graph = openContentGraph(path.join(folder, 'graph.db'), { dependencies: documentDependencies });
  const log = createLog();
  graph.apply(log.add(...DEFINITIONS));
  const stale = staleDocumentsOf(graph);
  if (isKnown) stale.markAll([]);
  const sets = new Map<string, MemoryDocumentIndex>();
  for (const set of [OLD, NEW])
    sets.set(
      indicesOf(set),
      createMemoryDocumentIndex(({ type, key }, neighbours) => {
        const row = neighbours.row(type, key);
        return row === undefined ? undefined : Buffer.from(row.source).toString();
      }),
    );
  const indexOf = (set: IndexSet) => sets.get(indicesOf(set)) ?? expect.unreachable();
  let [live, isReplaced] = [OLD, false];
  let isPromoted: boolean | 'refused' = true;
  const indices = createCurrentSet(
    async () => live,
    () => performance.now(),
  );
  const announced: IndexProgress[] = earlier === 0n ? [] : [{ epoch: 0, position: earlier, parked: [] }];
  /** Documents that searches show at each repair. */
  const repairs: string[] = [];
  const warnings: string[] = [];
  let failuresLeft = logFailures;
  const filled = Promise.withResolvers<void>();
  const mayPromote = Promise.withResolvers<void>();
  const faults = createKnownFaults();
  const partial = {
    cluster: {
      indices,
      use: indices.fix,
      createWriter: indexOf,
      ready: async () => {},
      fence: { raise: (_epoch: number, isNewestNow: () => Promise<boolean>) => isNewestNow() },
      watched: {
        ...{ aliases: new Map(), faults, progressIndex: PROGRESS.index },
        observer: {
          contents: async () => new Map([[PROGRESS.index, PROGRESS.content]]),
          definitions: async () => ({ cluster: 'c', version: 1, indices: new Map() }),
          version: async () => 1,
        },
        published: { read: async () => [], write: async () => {} },
        record: () => ({ read: async () => undefined, write: async () => {} }),
      },
      unusable: async () => ({ missing: [], outdated: [] }),
      forgetProgress: async () => void announced.splice(0),
      openIndices: async () => ({
        toBuild: [...graph.registry().contentTypes.keys()],
        set: NEW,
        replaces: false,
        async promote() {
          filled.resolve();
          await mayPromote.promise;
          if (!isReplaced) live = NEW;
          if (isPromoted === 'refused') throw new Error('no such index');
          return isPromoted;
        },
      }),
    },
    ...{ graph, stale, log: 'log', epoch: 1, indices: { kind: 'live' } },
    report: { info() {}, warn: (_, said) => void warnings.push(said), error() {} } satisfies Report,
    own: async () => undefined,
    progress: progressInHistory(
      {
        read: async () => announced.at(-1),
        write: async (one: IndexProgress) => void announced.push(one),
      },
      { historyAt: async () => undefined, lastPosition: async () => graph.position() },
    ),
    async isNewest() {
      if (failuresLeft-- > 0) throw new Error('the log does not answer');
      return isNewest && !isReplaced;
    },
    isWhole: true,
    repaired: () => repairs.push([...indexOf(OLD).visible.values()].join()),
  };
  const role = leadDocuments(partial as unknown as LeadDocumentsOptions);
  onTestFinished(async () => {
    mayPromote.resolve();
    await role.close();
    graph.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...{
      role,
      indices,
      announced,
      repairs,
      warnings,
      stale,
      faults,
      filled: filled.promise,
      index: indexOf(OLD),
    },
    switchAliases: mayPromote.resolve,
    /** Makes another process leader. It switches the aliases again if this process had done so. `isHeard`: this process notices it. */
    replace({
      wasPromoted,
      isHeard,
    }: {
      readonly wasPromoted: typeof isPromoted;
      readonly isHeard: boolean;
    }) {
      [isPromoted, isReplaced] = [wasPromoted, true];
      if (isHeard) role.stop();
      indices.release();
    },
    given(name: string): bigint {
      graph.apply(log.add(created('tag', name, { values: { name } })));
      role.wake();
      return graph.position();
    },
    /** Returns the documents that reads of this process show. */
    read: async () => [...indexOf(await indices.get()).visible.values()].join(),
  };
}

/** Returns true if a promise resolves within some turns of the event loop. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(() => {
    done = true;
  });
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  return done;
}

it('a write is not shown while reads of the leader go to other indices than those that it fills', async () => {
  const { role, given, read, filled, switchAliases, announced } = openSetting();
  const before = role.visible(given('before'));
  await filled;
  const position = given('meanwhile');
  const meanwhile = role.visible(position);
  expect(await isDone(Promise.race([before, meanwhile]))).toBe(false);
  expect([role.shown(), await role.shows(position, 0), announced.length]).toEqual([0n, false, 0]);
  switchAliases();
  await Promise.all([before, meanwhile]);
  expect(await read()).toMatch(/before.*meanwhile/);
  expect(await role.ready).toBe(true);
  expect(await role.shows(position, 60_000)).toBe(true);
  await expect.poll(() => announced.at(-1)?.position).toBe(position);
});

it.each([
  { wasPromoted: true, isHeard: true },
  { wasPromoted: false, isHeard: true },
  { wasPromoted: false, isHeard: false },
  { wasPromoted: 'refused', isHeard: false },
] as const)(
  'a leader that is replaced while it fills indices reads those that searches find: %o',
  async (how) => {
    const { role, given, filled, switchAliases, replace, indices } = openSetting();
    const visible = role.visible(given('lost'));
    await filled;
    replace(how);
    switchAliases();
    expect(await role.ready).toBe(false);
    expect(await isDone(visible)).toBe(false);
    expect(await indices.get()).toBe(OLD);
  },
);

it('a leader that knows what is stale writes the live indices, and shows them at once', async () => {
  const { role, given, read } = openSetting({ isKnown: true });
  await role.visible(given('soon'));
  expect(await read()).toContain('soon');
  expect(await role.ready).toBe(true);
});

it('a new leader reads a type whose fault ended before, although it has heard of the fault only', async () => {
  const { role, faults } = openSetting({ isKnown: true });
  const type = 'api::tag.tag' as Uid;
  faults.replace([{ type, kind: 'missing', reason: 'it is gone', since: 'then', refusesReads: true }]);
  expect(await role.ready).toBe(true);
  expect(faults.refusing(type)).toBeUndefined();
});

it('a leader waits for a log that does not answer, and does not blame Elasticsearch', async () => {
  const { role, warnings } = openSetting({ isKnown: true, logFailures: 2 });
  expect(await role.ready).toBe(true);
  expect(warnings).toEqual(['waiting for the event log', 'waiting for the event log']);
});

it('a leader that ends while it fills indices in place of others fills them again', async () => {
  const { role, given, stale, filled, switchAliases } = openSetting();
  given('before');
  await filled;
  expect(stale.isComplete()).toBe(false);
  switchAliases();
  expect(await role.ready).toBe(true);
  expect(stale.isComplete()).toBe(true);
});

it('indices that show a later state of the log are made again, and their progress begins again', async () => {
  const { role, given, read, filled, switchAliases, announced } = openSetting({
    isKnown: true,
    earlier: 1_000n,
  });
  const position = given('kept');
  await filled;
  expect(await isDone(role.ready)).toBe(false);
  switchAliases();
  expect(await role.ready).toBe(true);
  expect(await read()).toContain('kept');
  await expect.poll(() => announced.map((progress) => progress.position)).toEqual([position]);
});

it('a process that was replaced before it began shows nothing', async () => {
  const { role, given } = openSetting({ isNewest: false });
  const visible = role.visible(given('never'));
  expect(await role.ready).toBe(false);
  expect(await isDone(visible)).toBe(false);
  expect(role.shown()).toBe(0n);
});

it('a document that was refused counts as repaired once searches show it', async () => {
  const { role, given, stale, index, repairs } = openSetting({ isKnown: true });
  await role.ready;
  index.behave({
    outcome: (_, text) => (text.includes('odd') ? { kind: 'refused', reason: 'odd' } : undefined),
  });
  given('odd');
  await role.visible(given('other'));
  await expect.poll(() => stale.parked.list().length).toBeGreaterThan(0);
  expect(repairs).toEqual([]);
  index.behave({});
  stale.parked.retry(stale.parked.list());
  role.wake();
  await expect.poll(() => repairs.length).toBe(1);
  expect(repairs[0]).toContain('odd');
});

it('a document that was dropped counts as repaired once searches show it, not before', async () => {
  const { role, given, stale, index, repairs } = openSetting({ isKnown: true });
  await role.ready;
  index.behave({
    outcome: (_, text) => (text.includes('odd') ? { kind: 'refused', reason: 'odd' } : undefined),
  });
  given('odd');
  await expect.poll(() => stale.parked.list().length).toBeGreaterThan(0);
  const refused = stale.parked.list();
  expect(stale.parked.drop(refused)).toBe(refused.length);
  role.wake();
  await role.visible(given('other'));
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  expect([stale.parked.list(), repairs]).toEqual([[], []]);
  index.behave({});
  stale.remake(refused);
  role.wake();
  await expect.poll(() => repairs.length).toBe(1);
  expect(repairs[0]).toContain('odd');
  expect(stale.parked.all()).toEqual([]);
});

it('documents that are made again without an event count as repaired once searches show them', async () => {
  const { role, given, stale, index, repairs } = openSetting({ isKnown: true });
  await role.visible(given('wrong'));
  index.behave({ outcome: () => ({ kind: 'again', reason: 'busy' }) });
  stale.remake([...stale.all()]);
  role.wake();
  role.repairing();
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  expect(repairs).toEqual([]);
  index.behave({});
  await expect.poll(() => repairs.length).toBe(1);
});
