import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import {
  type GenerationStore,
  openGenerationStore,
} from '../../../projections/generations/generation-store.ts';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import type { Operations } from '../../../services/operator/operations.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import { interruptRebuild } from '../../../services/rebuild/cancel-rebuild.ts';
import type { RebuildHost } from '../../../services/rebuild/rebuild-host.ts';
import { runRebuild } from '../../../services/rebuild/run-rebuild.ts';
import { createThrottle } from '../../../services/rebuild/throttle.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { tryLockFile } from '../../../shared/sqlite/lock-file.ts';
import { createDataDirectory } from '../../support/server.ts';

/** A builder while another process executes the same rebuild, or after it has abandoned it. */
const SCOPE = { graph: true };
const NO_SERVER: Operations = {
  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  run: async function* () {
    throw new Error('no server answers');
  },
  close: async () => {},
};
const REQUEST = { scope: SCOPE, accept: false, othersEndMs: 0 };

let data: string;
let store: GenerationStore;
let host: RebuildHost;
let published: Rebuild[];

beforeEach(() => {
  data = createDataDirectory();
  store = openGenerationStore(data);
  published = [];
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  host = {
    ...{ data, log, store, definitions: [], takesOver: false, now: Date.now },
    throttle: createThrottle(undefined),
    plan: embeddedReadSide({}),
    report: { info() {}, warn() {}, error() {} },
    tell: (rebuild) => published.push(rebuild),
    withOperations: (use) => use(NO_SERVER),
  };
});
afterEach(async () => {
  await host.log.close();
  store.close();
  rmSync(data, { recursive: true, force: true });
});

describe('a builder', () => {
  it('does not open a graph that a worker is switching over to', async () => {
    const { id, generation } = store.begin(SCOPE, '2026-11-23T00:00:00.000Z');
    const worker = openContentGraph(graphFile(data, generation));
    store.enter(id, 'taking over');
    expect(await runRebuild(host, REQUEST)).toMatchObject({ id, phase: 'taking over' });
    expect(published).toMatchObject([{ id, phase: 'taking over' }]);
    worker.close();
  });

  it('is cancelled before the switch if the server ends its hand-over, and not after that', async () => {
    const { id, generation } = store.begin(SCOPE, '2026-11-23T00:00:00.000Z');
    openContentGraph(graphFile(data, generation)).close();
    store.enter(id, 'taking over');
    const begun = { ...host, abandon: () => Promise.reject(new Error('the switch has begun')) };
    await expect(interruptRebuild(begun, 'cancel')).rejects.toThrow('the switch has begun');
    expect(store.rebuild()).toMatchObject({ phase: 'taking over', wanted: 'run' });
    expect(await interruptRebuild({ ...host, abandon: async () => {} }, 'cancel')).toMatchObject({
      id,
      phase: 'cancelled',
    });
    expect(store.generations()).toHaveLength(1);
    expect(existsSync(graphFile(data, generation))).toBe(false);
  });

  it('leaves the reason for which it was cancelled', async () => {
    const withOperations = async () => {
      const where = { ...host, abandon: async () => {} };
      expect(await interruptRebuild(where, 'cancel', 'the lease was lost')).toMatchObject({
        phase: 'replaying',
        wanted: 'cancel',
      });
    };
    const builder = { ...host, withOperations: withOperations as unknown as RebuildHost['withOperations'] };
    openContentGraph(graphFile(data, 1)).close();
    expect(await runRebuild(builder, REQUEST)).toMatchObject({
      phase: 'cancelled',
      message: 'the lease was lost',
    });
  });

  it('continues the rebuild of a process that is killed while this one waits for it', async () => {
    const { id, generation } = store.begin(SCOPE, '2026-11-23T00:00:00.000Z');
    const other = tryLockFile(join(data, 'rebuild.db'));
    const ended = runRebuild(host, REQUEST).catch((error: Error) => error);
    expect(published).toMatchObject([{ id, phase: 'replaying' }]);
    const graph = graphFile(data, generation);
    other?.release();
    // The log is empty. Only a process that executes the rebuild creates the file and calls the server.
    expect(await ended).toMatchObject({ message: 'no server answers' });
    openContentGraph(graph).close();
  });

  it('returns the failure of the rebuild that it waited for', async () => {
    const { id } = store.begin(SCOPE, '2026-11-23T00:00:00.000Z');
    const other = tryLockFile(join(data, 'rebuild.db'));
    const ended = runRebuild(host, REQUEST);
    store.note(id, 'the disk is full');
    other?.release();
    expect(await ended).toMatchObject({ id, phase: 'replaying', message: 'the disk is full' });
  });
});

describe('a command without a server', () => {
  it('has the directory neither while it replays nor while it compares', async () => {
    openContentGraph(graphFile(data, store.live().number)).close();
    const ran: string[] = [];
    let isHeld = false;
    const phases: { readonly phase: string; readonly isHeld: boolean }[] = [];
    const here: Operations = {
      run: async function* (name) {
        ran.push(name);
        yield {} as never;
      },
      close: async () => {},
    };
    const command: RebuildHost = {
      ...host,
      takesOver: true,
      tell: ({ phase }) => phases.push({ phase, isHeld }),
      async withOperations(use) {
        isHeld = true;
        return use(here).finally(() => {
          isHeld = false;
        });
      },
    };
    await runRebuild(command, REQUEST);
    expect(ran).toEqual(['level', 'take-over']);
    expect(phases).toContainEqual({ phase: 'verifying', isHeld: false });
    expect(phases.filter((each) => each.isHeld)).toEqual([]);
  });

  it('does not take an earlier rebuild for that of a process that has the lock and has not begun yet', async () => {
    const earlier = store.begin(SCOPE, '2026-11-23T00:00:00.000Z');
    store.setLive(earlier.generation);
    const other = tryLockFile(join(data, 'rebuild.db'));
    const ended = runRebuild(host, REQUEST);
    expect(published).toEqual([]);
    const { id } = store.begin(SCOPE, '2026-11-23T00:00:01.000Z');
    store.enter(id, 'stopped', '1 differences at position 1');
    expect(await ended).toMatchObject({ id, phase: 'stopped' });
    other?.release();
  });

  it('begins its own rebuild after a process with the lock that began none', async () => {
    const earlier = store.begin({ graph: false }, '2026-11-23T00:00:00.000Z');
    store.setLive(earlier.generation);
    const other = tryLockFile(join(data, 'rebuild.db'));
    const ended = runRebuild(host, REQUEST).catch((error: Error) => error);
    other?.release();
    expect(await ended).toMatchObject({ message: 'no server answers' });
    expect(store.rebuild()).toMatchObject({ scope: SCOPE, generation: earlier.generation + 1 });
  });
});
