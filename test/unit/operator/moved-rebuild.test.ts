import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rebuildOperation } from '../../../services/operator/generations.ts';
import { createJobs } from '../../../services/operator/jobs.ts';
import type { LeaderLink, OperatorContext } from '../../../services/operator/operation.ts';
import { runOnLeader } from '../../../services/operator/run-on-leader.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import { openServedGenerations } from '../../../services/read-side/open-generations.ts';
import { LeaderElsewhere, NOT_LEADING } from '../../../services/read-side/outside-generation.ts';
import type { ReadSidePlan } from '../../../services/read-side/read-side.ts';
import type { Abandon, ServedGenerations } from '../../../services/read-side/served-generations.ts';
import { interruptRebuild } from '../../../services/rebuild/cancel-rebuild.ts';
import { rebuildsOf } from '../../../services/rebuild/rebuilds-of.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { createDataDirectory } from '../../support/server.ts';

/** A rebuild whose process loses the lease at the switch, or whose switch ends for another reason. */
const notServed = (reason: string) => `generation 2 is not served: ${reason}`;
const KILLED = notServed('the process that should serve it was ended by SIGKILL');
const BY_OPERATOR = 'an operator cancelled the rebuild';
const REQUEST = { graph: false, accept: false };
const NEVER = new AbortController().signal;

let data: string;
let log: EventStore;
let generations: ServedGenerations;
let writesHere: boolean;
/** The supervisor: a hand-over waits until it is abandoned or fails. */
let handOver: PromiseWithResolvers<void>;
let plan: ReadSidePlan;

const abandon: Abandon = async (reason) => handOver.reject(new Error(notServed(reason)));
const lines = (found: AsyncIterable<unknown>) => Array.fromAsync(found);
const rebuilt = () => generations.store.rebuild();

beforeEach(async () => {
  data = createDataDirectory();
  log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  writesHere = true;
  handOver = Promise.withResolvers();
  const embedded = embeddedReadSide({});
  plan = {
    graph: embedded.graph,
    open: async (...to) => ({ ...(await embedded.open(...to)), writesHere: () => writesHere }),
  };
  generations = openServedGenerations({ data, log, plan, handOver: () => handOver.promise, abandon });
  await generations.openReadSide();
});
afterEach(async () => {
  await generations.closeReadSide();
  await generations.close();
  await log.close();
  rmSync(data, { recursive: true, force: true });
});

/** Creates a process whose builder makes a generation at once. */
function createContext(): OperatorContext {
  const { store } = generations;
  const context: Pick<OperatorContext, 'data' | 'generations' | 'build' | 'rebuilds'> = {
    data,
    generations,
    async *build() {
      const { id } = store.begin({ graph: false }, '2026-11-30T00:00:00.000Z');
      store.enter(id, 'taking over');
      const made = store.rebuild();
      if (made !== undefined) yield made;
    },
    rebuilds: rebuildsOf({ data, store, plan, abandon: generations.abandon }),
  };
  return context as OperatorContext;
}

/** Ends the rebuild during its switch, as a process does that finds another leader. */
const cancelOwn = () =>
  interruptRebuild(
    { data, store: generations.store, plan, abandon: generations.abandon },
    'cancel',
    NOT_LEADING,
  );

const run = () => lines(rebuildOperation.run(createContext(), REQUEST, NEVER));

/** Waits until the process switches over. */
async function switching(): Promise<void> {
  await expect.poll(generations.isSwitching).toBe(true);
}

describe('a rebuild whose process loses the lease at the switch', () => {
  it('is carried out by the next leader if its own process was asked', async () => {
    const context = createContext();
    let locations = 0;
    const leader: LeaderLink = {
      locate: async () => (locations++ === 0 ? 'here' : 'elsewhere'),
      ask: async ({ directory }) =>
        directory === null
          ? { directory: 'other', worker: 'one', lines: [], end: null }
          : { directory, worker: 'one', lines: ['live there'], end: { kind: 'done' } },
    };
    const here = () => rebuildOperation.run(context, REQUEST, NEVER);
    const moved = lines(runOnLeader({ leader, name: 'rebuild', form: REQUEST, here, isOnce: false }, NEVER));
    await switching();
    writesHere = false;
    handOver.reject(new Error(KILLED));
    expect((await moved).at(-1)).toBe('live there');
    expect(rebuilt()).toMatchObject({ phase: 'cancelled', message: NOT_LEADING });
  });

  it('moves if another process has asked for it', async () => {
    const jobs = createJobs(createContext());
    const asked = {
      id: randomUUID(),
      name: 'rebuild',
      form: REQUEST,
      directory: generations.store.directory(),
    };
    const lost = switching().then(async () => {
      writesHere = false;
      handOver.reject(new Error(KILLED));
    });
    for (let after = 0; ; ) {
      const { lines, end } = await jobs.answer({ ...asked, after });
      after += lines.length;
      if (end === null) continue;
      expect(end).toEqual({ kind: 'moved' });
      break;
    }
    await lost;
  });

  it('is carried out by the next leader although the lease has come back meanwhile', async () => {
    const running = run().catch((error: unknown) => error);
    await switching();
    await cancelOwn();
    expect(await running).toBeInstanceOf(LeaderElsewhere);
    expect(rebuilt()).toMatchObject({ phase: 'cancelled', message: NOT_LEADING });
  });
});

it('a rebuild fails with its reason while its process is the leader', async () => {
  const running = run().catch((error: unknown) => error);
  await switching();
  handOver.reject(new Error(KILLED));
  expect(await running).toMatchObject({ message: KILLED });
  expect(await running).not.toBeInstanceOf(LeaderElsewhere);
  expect(rebuilt()).toMatchObject({ phase: 'cancelled', message: KILLED });
});

it('a rebuild that an operator cancels at the switch says so, in its record and to the command that waits', async () => {
  const context = createContext();
  const running = lines(rebuildOperation.run(context, REQUEST, NEVER)).catch((error: unknown) => error);
  await switching();
  expect(await context.rebuilds?.interrupt('cancel')).toMatchObject({ phase: 'cancelled' });
  expect(await running).toMatchObject({ message: notServed(BY_OPERATOR) });
  expect(rebuilt()?.message).toContain(BY_OPERATOR);
});

it.each([
  { who: 'a change of the leader', reason: NOT_LEADING, isMoved: true },
  { who: 'an operator', reason: BY_OPERATOR, isMoved: false },
])('a builder that $who cancels leaves the reason', async ({ reason, isMoved }) => {
  const { store } = generations;
  const context = {
    ...createContext(),
    async *build() {
      const { id } = store.begin({ graph: false }, '2026-11-30T00:00:00.000Z');
      store.want(id, 'cancel', reason);
      // The builder had not read the request yet.
      store.enter(id, 'verifying');
      store.enter(id, 'cancelled', store.rebuild()?.message);
      const made = store.rebuild();
      if (made !== undefined) yield made;
    },
  };
  const ended = await lines(rebuildOperation.run(context, REQUEST, NEVER)).catch((error: unknown) => error);
  if (isMoved) expect(ended).toBeInstanceOf(LeaderElsewhere);
  else expect(ended).toMatchObject([{ phase: 'cancelled', message: reason }]);
});

it('a job whose worker ended after a failed switch does not make the rebuild again, and says why', async () => {
  const context = createContext();
  const { store } = generations;
  const { id, generation } = store.begin({ graph: false }, '2026-11-30T00:00:00.000Z');
  const asked = { id: randomUUID(), name: 'rebuild', form: REQUEST, directory: store.directory(), after: 3 };
  store.noteRequest(asked.id, generation);
  store.forget(generation);
  store.enter(id, 'cancelled', KILLED);
  expect(await createJobs(context).answer(asked)).toMatchObject({ end: { kind: 'failed', message: KILLED } });
  expect(rebuilt()).toMatchObject({ id });
});

it('a job that one worker after the other begins again ends, and says that these are lost', async () => {
  let workers = 0;
  const leader: LeaderLink = {
    locate: async () => 'elsewhere',
    ask: async ({ directory }) => ({
      directory: directory ?? 'other',
      worker: String(workers++),
      lines: [{ phase: 'copying' }],
      end: null,
    }),
  };
  const asked = { leader, name: 'rebuild', form: REQUEST, here: () => expect.fail(), isOnce: false };
  await expect(lines(runOnLeader(asked, NEVER))).rejects.toThrow('was restarted again and again');
  expect(workers).toBe(9);
});
