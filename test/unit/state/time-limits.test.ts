import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import { createSeal } from '../../../services/fleet/seal.ts';
import { CONDITIONS } from '../../../services/operating/condition-table.ts';
import { runbookRows } from '../../../services/operating/runbook.ts';
import { createProcessList } from '../../../services/state/process-list.ts';
import type { ProcessReport } from '../../../services/state/process-report.ts';
import { readState } from '../../../services/state/state.ts';
import { checkLeader } from '../../../services/state/watch-fleet.ts';
import { checkRebuild, checkTypesChange } from '../../../services/state/watch-rebuild.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';

/** The time limits of the state that operators see: each is crossed here. */
const EVENT_STORE = { lastPosition: async () => 0n, readAll: async function* () {} } as never;
const QUESTIONS = createSeal(Buffer.alloc(32), 'questions to a leader', 'test');

/** Stops the clocks that count silence. Timers and connections run on. */
function stopClocks(): void {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

const REPORT: ProcessReport = {
  role: 'project',
  address: 'http://127.0.0.1:1',
  host: 'other',
  pid: 7,
  version: '1.0.0',
  startedAt: '2026-01-01T00:00:00.000Z',
  place: null,
  epoch: null,
  position: '12',
  lagSeconds: 0,
  memoryBytes: 1,
  isReady: true,
  reason: null,
  conditions: [],
};

function joinList(log: EventStore) {
  const list = createProcessList(
    {
      role: 'serve',
      version: '1.0.0',
      readiness: { check: async () => ({ status: 'ready' }) } as never,
      conditions: { look: async () => [] } as never,
    },
    null,
  );
  onTestFinished(() => list.close());
  const membership = { owner: 'own', questions: QUESTIONS };
  list.join({ log, space: 'test', membership, pid: 1, address: null });
  return list;
}

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Opens the list of a process that is alone, and a function that sends it the report of another one. */
async function openList() {
  const list = joinList(EVENT_STORE);
  const url = await listen((request, response) => void list.answer(request, response));
  const send = async (report: ProcessReport, sentAt = Date.now()): Promise<number> => {
    const body = JSON.stringify(report);
    const signature = `${sentAt}.${QUESTIONS.sign('process', String(sentAt), body)}`;
    const headers = { 'varve-signature': signature, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/_varve/processes`, {
      method: 'POST',
      headers,
      body,
    });
    return answer.status;
  };
  const state = () =>
    readState({ processes: list.list, cluster: undefined, webhooks: () => null, purges: () => null });
  return { send, state };
}

it('a process is silent after 10 s, and forgotten after 10 min', async () => {
  stopClocks();
  const { send, state } = await openList();
  expect(await send(REPORT)).toBe(200);
  expect((await state()).processes.map(({ pid }) => pid)).toEqual([1, 7]);
  vi.advanceTimersByTime(9_900);
  expect((await state()).conditions).toEqual([]);
  vi.advanceTimersByTime(200);
  expect((await state()).conditions).toMatchObject([
    { code: 'process-silent', message: 'varve project 7 on other has ended or is silent' },
  ]);
  vi.advanceTimersByTime(589_000);
  expect((await state()).processes).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect((await state()).processes.map(({ pid }) => pid)).toEqual([1]);
  expect((await state()).conditions).toEqual([]);
});

it('a condition has the rows of the runbook that say more', async () => {
  stopClocks();
  const { send, state } = await openList();
  const condition = {
    ...CONDITIONS.halted,
    code: 'halted' as const,
    message: 'stopped',
    since: REPORT.startedAt,
  };
  expect(await send({ ...REPORT, conditions: [condition] })).toBe(200);
  const [found] = (await state()).conditions;
  expect(found?.runbook).toMatchObject([{ what: expect.stringContaining('varve_halted') }]);
  expect(found?.runbook).toEqual(runbookRows().filter(({ conditions }) => conditions?.includes('halted')));
});

it.each([
  ['data directory', { place: '/data' }, { host: 'elsewhere' }],
  ['address', { address: 'http://10.0.0.7:1337', host: 'another' }, { address: 'http://10.0.0.8:1337' }],
])('a silent process is omitted after 5 s if a later one has its %s', async (_what, seat, otherSeat) => {
  stopClocks();
  const { send, state } = await openList();
  const pids = async () => (await state()).processes.map(({ pid }) => pid);
  await send({ ...REPORT, ...seat, host: 'other' });
  vi.advanceTimersByTime(4_000);
  const later = { ...REPORT, address: null, startedAt: '2026-01-01T00:00:01.000Z' };
  await send({ ...later, ...seat, pid: 8 });
  await send({ ...later, ...seat, ...otherSeat, pid: 9 });
  expect(await pids()).toEqual([1, 7, 8, 9]);
  // An earlier process that still reports has not ended: two containers may have equal names.
  await send({ ...REPORT, ...seat, host: 'other' });
  vi.advanceTimersByTime(4_900);
  expect(await pids()).toEqual([1, 7, 8, 9]);
  vi.advanceTimersByTime(200);
  expect(await pids()).toEqual([1, 8, 9]);
});

it('a process that has left is not listed, unless another one with its name is started', async () => {
  stopClocks();
  const { send, state } = await openList();
  await send(REPORT);
  vi.advanceTimersByTime(1_000);
  expect(await send({ ...REPORT, hasLeft: true })).toBe(200);
  expect((await state()).processes.map(({ pid }) => pid)).toEqual([1]);
  vi.advanceTimersByTime(60_000);
  expect((await state()).conditions).toEqual([]);
  await send(REPORT);
  expect((await state()).processes.map(({ pid }) => pid)).toEqual([1, 7]);
});

it('a report is refused if it was signed more than 5 min ago or later', async () => {
  stopClocks();
  const { send } = await openList();
  for (const difference of [-299_000, 299_000]) expect(await send(REPORT, Date.now() + difference)).toBe(200);
  for (const difference of [-301_000, 301_000]) expect(await send(REPORT, Date.now() + difference)).toBe(401);
});

it('the access keys differ for 60 s after a leader could not verify a report', async () => {
  stopClocks();
  let status = 401;
  const address = await listen((_request, response) => void response.writeHead(status).end('[]'));
  const elected = {
    ...{ id: 'claim', stream: 'test.lease', revision: 0n, type: 'leader-elected' },
    data: { epoch: 1, owner: 'another', address },
  };
  const log = {
    async *readStream(_stream: string, from = 0n) {
      if (from === 0n) yield elected;
    },
  };
  const list = joinList(log as never);
  expect(list.keyIsShared()).toBeUndefined();
  await vi.waitFor(() => expect(list.keyIsShared()).toBeDefined(), { timeout: 60_000, interval: 20 });
  status = 200;
  vi.advanceTimersByTime(59_900);
  expect(list.keyIsShared()).toEqual({
    code: 'keys-differ',
    message: `the leader at ${address} has another access key than this process, or another time`,
  });
  vi.advanceTimersByTime(200);
  expect(list.keyIsShared()).toBeUndefined();
});

it('a namespace has no leader after 10 s without one', () => {
  stopClocks();
  let leader: 'nobody' | 'this process' = 'nobody';
  const check = checkLeader({ leader: () => ({ kind: leader }) as never }, true);
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(9_900);
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(200);
  expect(check()).toEqual({ code: 'no-leader', message: 'there is no leader', isUnready: true });
  leader = 'this process';
  expect(check()).toBeUndefined();
  leader = 'nobody';
  expect(check()).toBeUndefined();
});

const RUNNING: Rebuild = {
  id: 3,
  scope: { graph: true },
  generation: 2,
  phase: 'replaying',
  wanted: 'run',
  startedAt: '2026-01-01T00:00:00.000Z',
  progress: { done: 1, total: 2 } as Rebuild['progress'],
  message: undefined,
};

it('a rebuild is stalled after 60 s without progress', () => {
  stopClocks();
  let rebuild = RUNNING;
  const check = checkRebuild(
    () => rebuild,
    () => true,
  );
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(59_900);
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(200);
  expect(check()).toMatchObject({
    code: 'rebuild-stalled',
    message: 'the rebuild of generation 2 (replaying) has made no progress for 60 s',
  });
  rebuild = { ...rebuild, phase: 'indexing' };
  expect(check()).toBeUndefined();
});

it('a rebuild without a process has stopped after 5 s, unless another process is about to serve it', () => {
  stopClocks();
  let rebuild = RUNNING;
  let isWorkedOn = true;
  const check = checkRebuild(
    () => rebuild,
    () => isWorkedOn,
  );
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(5_100);
  expect(check()).toBeUndefined();
  isWorkedOn = false;
  expect(check()).toEqual({
    code: 'rebuild-failed',
    message: 'the rebuild of generation 2 has stopped: its process has ended',
  });
  rebuild = { ...rebuild, progress: { ...rebuild.progress, done: 2 } };
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(4_900);
  expect(check()).toBeUndefined();
  rebuild = { ...rebuild, phase: 'taking over' };
  expect(check()).toBeUndefined();
  vi.advanceTimersByTime(5_100);
  expect(check()).toBeUndefined();
});

it('a change of content types has stopped while its rebuild has, and until an attempt after a failure is done', () => {
  let rebuild: Rebuild | undefined = { ...RUNNING, phase: 'cancelled' };
  let failure: string | undefined;
  const check = checkTypesChange(
    () => rebuild,
    () => failure,
  );
  expect(check()).toBeUndefined();
  rebuild = { ...RUNNING, id: 4 };
  expect(check()).toBeUndefined();
  const stopped = 'the change of content types has stopped: ';
  rebuild = { ...RUNNING, id: 4, phase: 'stopped', message: '2 differences at position 9' };
  expect(check()).toEqual({
    code: 'types-change-stopped',
    message: `${stopped}2 differences at position 9`,
  });
  rebuild = { ...RUNNING, id: 4, phase: 'cancelled' };
  expect(check()).toMatchObject({ message: `${stopped}it was cancelled` });
  rebuild = { ...RUNNING, id: 4, wanted: 'pause' };
  expect(check()).toMatchObject({ message: `${stopped}an operator has stopped it` });
  rebuild = { ...RUNNING, id: 5 };
  expect(check()).toBeUndefined();
  failure = '2 differences at position 9';
  expect(check()).toMatchObject({ message: `${stopped}2 differences at position 9` });
  rebuild = { ...RUNNING, id: 5, phase: 'done' };
  expect(check()).toBeUndefined();
});
