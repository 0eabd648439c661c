import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { RebuildScope } from '../../../projections/generations/generation.ts';
import {
  type GenerationStore,
  openGenerationStore,
} from '../../../projections/generations/generation-store.ts';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import { createJobs } from '../../../services/operator/jobs.ts';
import type { OperatorContext } from '../../../services/operator/operation.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import { rebuildsOf } from '../../../services/rebuild/rebuilds-of.ts';
import { runRebuild } from '../../../services/rebuild/run-rebuild.ts';
import { createThrottle } from '../../../services/rebuild/throttle.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { tryLockFile } from '../../../shared/sqlite/lock-file.ts';
import { dataForTest } from '../../support/data-for-test.ts';

/** A rebuild that another process asked this leader for, and that process is gone. */
const GRAPH: RebuildScope = { graph: true };
const COPY: RebuildScope = { graph: false };
const AT = '2026-11-30T00:00:00.000Z';

let data: string;
let store: GenerationStore;

beforeEach(() => {
  data = dataForTest();
  store = openGenerationStore(data);
  onTestFinished(store.close);
  openContentGraph(graphFile(data, 1)).close();
});

/** Asks for a rebuild once, and lets `ms` pass. `builder`: makes the generation until it is ended. */
async function askAndLeave(ms: number, builder: (ended: AbortSignal) => Promise<unknown>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const where = { data, store, plan: embeddedReadSide({}), abandon: async () => {} };
  const context: Pick<OperatorContext, 'data' | 'generations' | 'build' | 'rebuilds'> = {
    data,
    generations: { ...({} as OperatorContext['generations']), store, refuseTakeOver() {} },
    async *build(_request, signal) {
      yield store.begin(GRAPH, AT);
      openContentGraph(graphFile(data, 2)).close();
      await builder(signal);
    },
    rebuilds: rebuildsOf(where),
  };
  const jobs = createJobs(context as OperatorContext);
  const form = { graph: true, accept: false };
  const asked = { id: randomUUID(), name: 'rebuild', form, after: 0, directory: store.directory() };
  expect((await jobs.answer(asked)).lines).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(ms);
  vi.useRealTimers();
}

function untilEnded(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

/** Runs `varve rebuild` up to the first call of a server. Resolves to its message. */
async function command(scope: RebuildScope): Promise<string> {
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  const host = {
    ...{ data, log, store, definitions: [], takesOver: false, now: Date.now, tell: () => {} },
    throttle: createThrottle(undefined),
    plan: embeddedReadSide({}),
    report: { info() {}, warn() {}, error() {} },
    withOperations: () => Promise.reject(new Error('no server answers')),
  };
  return runRebuild(host, { scope, accept: false, othersEndMs: 0 })
    .then(
      ({ phase }) => phase,
      ({ message }: Error) => message,
    )
    .finally(log.close);
}

it('says so, and makes way for a rebuild of another scope', async () => {
  await askAndLeave(70_000, untilEnded);
  expect(store.rebuild()).toMatchObject({ phase: 'replaying', message: 'no command waits for it any more' });
  expect(await command(COPY)).toBe('no server answers');
  expect(store.rebuild()).toMatchObject({ scope: COPY, generation: 3 });
  expect(store.generations().map(({ number }) => number)).toEqual([1, 3]);
  expect(existsSync(graphFile(data, 2))).toBe(false);
});

it('is continued by the same command', async () => {
  await askAndLeave(70_000, untilEnded);
  expect(await command(GRAPH)).toBe('no server answers');
  expect(store.rebuild()).toMatchObject({ scope: GRAPH, generation: 2 });
});

it('refuses another scope while somebody may wait for it', async () => {
  await askAndLeave(50_000, untilEnded);
  expect(await command(COPY)).toContain('varve rebuild --graph has not finished');
});

it('is left to another command that waits for it', async () => {
  let lock: ReturnType<typeof tryLockFile>;
  await askAndLeave(70_000, (signal) =>
    untilEnded(signal).finally(() => {
      lock = tryLockFile(join(data, 'rebuild.db'));
    }),
  );
  expect(store.rebuild()).toMatchObject({ phase: 'replaying', message: undefined });
  lock?.release();
});

it('stays if an operator has paused it', async () => {
  await askAndLeave(70_000, async () => store.want(store.rebuild()?.id ?? expect.unreachable(), 'pause'));
  expect(store.rebuild()).toMatchObject({ wanted: 'pause', message: undefined });
  expect(await command(COPY)).toContain('varve rebuild --graph has not finished');
});
