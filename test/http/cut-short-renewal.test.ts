import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { lookAtGenerations } from '../../projections/generations/generation-store.ts';
import { BUILDER_ARGUMENT } from '../../services/supervisor/builder-process.ts';
import { argumentsOf, childrenOf, workersOf } from '../support/processes.ts';
import { generation, nextWorker, replaced, workers } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  type ServerOptions,
  spawnVarve,
  type VarveProcess,
} from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Commands and signals that come during a hand-over or a start. */
const LONG = { ...takesMinutes('commands during a hand-over'), timeout: 240_000 };
const LOGGED = ['--log-level', 'info'];
const POLL = { timeout: 60_000, interval: 200 };

const startLogging = (options: ServerOptions = {}) => startForTest({ arguments: LOGGED, ...options });

/** A server that serves generation 2 and keeps generation 1. */
async function serverWithKept(): Promise<RunningServer> {
  const server = await startLogging();
  const [first = 0] = workers(server);
  expect((await runVarve(['rebuild', '--graph', '--data', server.data])).code).toBe(0);
  await replaced(server, first);
  return server;
}

type PausedRollback = { readonly command: VarveProcess; readonly next: number };

/** Begins a rollback, and pauses the worker that gets ready for it. */
async function beginRollback(server: RunningServer): Promise<PausedRollback> {
  const command = spawnVarve(['rollback', '--data', server.data]);
  const next = await nextWorker(server);
  process.kill(next, 'SIGSTOP');
  return { command, next };
}

async function endRollback({ command, next }: PausedRollback): Promise<void> {
  process.kill(next, 'SIGCONT');
  expect(await command.exited).toMatchObject({
    code: 0,
    output: expect.stringContaining('generation 1 is live'),
  });
}

/** Resolves to the builder, once it runs its program: until then its parent waits for it. */
async function builderOf(worker: number): Promise<number> {
  for (;;) {
    const found = childrenOf(worker).find((pid) => argumentsOf(pid).includes(BUILDER_ARGUMENT));
    if (found !== undefined) return found;
    await delay(2);
  }
}

/** Reads the record: a command starts too slowly for a phase that ends when the paused worker is killed. */
function rebuildPhase({ data }: RunningServer): string | undefined {
  const record = lookAtGenerations(data);
  try {
    return record.rebuild()?.phase;
  } finally {
    record.close();
  }
}

/** Expects that the upgrade becomes generation 3, and that a later rebuild works. */
async function expectRenewed(server: RunningServer): Promise<void> {
  await expect.poll(server.output, POLL).toContain('the new read model is built');
  await expect.poll(() => generation(server), POLL).toBe(3);
  expect(server.output().match(/builds a new read model/g)).toHaveLength(1);
  expect((await runVarve(['rebuild', '--copy', '--data', server.data])).stdout).toContain(
    'generation 4 is live',
  );
}

it('refuses drop during a rollback, which then succeeds', LONG, async () => {
  const server = await serverWithKept();
  const [second = 0] = workers(server);
  const rollback = await beginRollback(server);
  expect(await runVarve(['drop', '--data', server.data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('run varve drop again when it is over'),
  });
  await endRollback(rollback);
  await replaced(server, second);
  expect((await runVarve(['drop', '--data', server.data])).code).toBe(0);
  expect(existsSync(join(server.data, 'graph-2.db'))).toBe(false);
  expect(await generation(server)).toBe(1);
});

it('upgrades after a hand-over if SIGHUP came during it', LONG, async () => {
  const server = await serverWithKept();
  const rollback = await beginRollback(server);
  for (let i = 0; i < 3; i++) process.kill(server.supervisor, 'SIGHUP');
  await delay(1_000);
  await endRollback(rollback);
  await expectRenewed(server);
});

it.each(['starting', 'taking over'])(
  'continues an upgrade whose worker was replaced in the phase %s',
  LONG,
  async (phase) => {
    const server = await serverWithKept();
    const [second = 0] = workers(server);
    process.kill(server.supervisor, 'SIGHUP');
    const builder = await builderOf(second);
    process.kill(builder, 'SIGSTOP');
    const rollback = await beginRollback(server);
    if (phase === 'taking over') {
      process.kill(builder, 'SIGCONT');
      await expect.poll(() => rebuildPhase(server), POLL).toBe(phase);
    }
    await endRollback(rollback);
    await expect.poll(server.output, POLL).toContain('the next worker continues it');
    await expect.poll(() => generation(server), POLL).toBe(3);
    expect((await runVarve(['rebuild', '--copy', '--data', server.data])).stdout).toContain('is live');
  },
);

it('upgrades after a start if SIGHUP came during it', LONG, async () => {
  const data = createDataDirectory();
  const types = ['--content-types', CONFORMANCE_SCHEMA];
  const varve = spawnVarve(['serve', ...types, '--data', data, '--port', '0', ...LOGGED]);
  onTestFinished(() => void varve.child.kill('SIGKILL'));
  while (workersOf(varve.child.pid ?? 0).length === 0) await delay(1);
  varve.child.kill('SIGHUP');
  await expect.poll(varve.output, POLL).toContain('the new read model is built');
  varve.child.kill('SIGTERM');
  expect(await varve.exited).toMatchObject({ code: 0 });
});

it('removes graphs without a record at a start', LONG, async () => {
  const server = await serverWithKept();
  await server.stop();
  const orphans = ['graph-7.db', 'graph-7.db-lock', 'graph-8-check.db', 'graph-9-converted.db'];
  const others = ['graph.db', 'graph-2.db', 'graph-seven.db', 'graph-7.txt'];
  for (const name of [...orphans, ...others.slice(2)]) writeFileSync(join(server.data, name), '');
  await startLogging({ data: server.data });
  const isThere = (name: string) => existsSync(join(server.data, name));
  expect(orphans.filter(isThere)).toEqual([]);
  expect(others.filter(isThere)).toEqual(others);
});
