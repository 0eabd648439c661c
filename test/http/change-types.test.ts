import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { ask, startHandOverLoad } from '../support/hand-over-load.ts';
import { childrenOf, isRunning } from '../support/processes.ts';
import { createTypes, renameAttribute } from '../support/renamed-attribute.ts';
import { create, names, nextWorker, replaced, workers } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  createDataDirectory,
  type RunningServer,
  type ServerOptions,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * A start with changed content types and more rows than a start may convert. The server continues with the earlier content types.
 * Then another process replaces it, which has the new ones.
 */
const LONG = { ...takesMinutes('content types that change while processes are lost'), timeout: 300_000 };
const CLIENTS = Number(process.env['CHANGE_CLIENTS'] ?? 3);
/** Number of rows in addition to those of STORED. */
const ROWS = Number(process.env['CHANGE_ROWS'] ?? 0);
/** Number of writes between the copy and the moment when the next process converts it. */
const LATE = Number(process.env['CHANGE_LATE'] ?? 20);
const STORED = ['a', 'b', 'c'];

const server = async (options: ServerOptions): Promise<RunningServer> => {
  const started = await startServer({
    ...options,
    arguments: ['--convert-at-once', '0', ...(options.arguments ?? [])],
  });
  onTestFinished(() => started.dispose());
  return started;
};

/** Creates a data directory of restaurants with three stars, and content types that rename `stars` to `score`. */
async function changedFolder(): Promise<{ readonly data: string; readonly contentTypes: string }> {
  const contentTypes = createTypes();
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  if (ROWS > 0) await importRows(data, contentTypes);
  const first = await server({ data, contentTypes });
  for (const name of STORED) {
    const body = { data: { key: name, name, stars: 3 } };
    expect((await ask(`${first.url}/api/restaurants`, false, body)).status).toBe(201);
  }
  expect(await first.stop()).toMatchObject({ code: 0 });
  renameAttribute(contentTypes, 'stars', 'score');
  return { data, contentTypes };
}

async function importRows(data: string, contentTypes: string): Promise<void> {
  const file = join(contentTypes, 'rows.jsonl');
  const row = (_unused: unknown, n: number) => {
    const [key, name] = [`r${n}`, `row ${n}`];
    return JSON.stringify({ type: 'restaurant', key, state: 'published', data: { key, name, stars: 2 } });
  };
  writeFileSync(file, Array.from({ length: ROWS }, row).join('\n'));
  const imported = await runVarve(['import', file, '--content-types', contentTypes, '--data', data]);
  expect(imported).toMatchObject({ code: 0 });
}

/** Graph of the next generation. */
const nextGraph = (data: string) => join(data, 'graph-2.db');

const startChanged = async (): Promise<RunningServer> => server(await changedFolder());

async function statusOf(url: string): Promise<number> {
  return (await ask(url, false)).status;
}

/** Counts the definitions of content types in the log. */
function definitions(data: string): number {
  const log = new DatabaseSync(join(data, 'events.db'), { readOnly: true });
  try {
    const sql = "SELECT count(*) AS count FROM event WHERE type = 'content-type-defined'";
    return Number(log.prepare(sql).get()?.['count']);
  } finally {
    log.close();
  }
}

/** Expects that the stored stars are scores, and that no write is missing. */
async function expectChanged({ url }: RunningServer, written: readonly string[]): Promise<void> {
  await expect
    .poll(() => statusOf(`${url}/api/restaurants?filters[score]=3`), { timeout: 120_000 })
    .toBe(200);
  const { text } = await ask(`${url}/api/restaurants?filters[score]=3&sort=name&fields=name`, false);
  const found = (JSON.parse(text) as { data: { name: string }[] }).data.map(({ name }) => name);
  expect(found).toEqual(STORED);
  const shown = new Set(await names(url));
  expect([...STORED, ...written].filter((name) => !shown.has(name))).toEqual([]);
  expect(await create(url, 'last')).toBe(201);
}

it('answers reads and writes with the earlier content types until another process serves the new ones', {
  ...takesMinutes('content types that change under load'),
  timeout: 180_000,
}, async () => {
  const folders = await changedFolder();
  // No copy of the graph is made before the lock is released.
  const building = tryLockFile(join(folders.data, 'rebuild.db'));
  const changing = await server(folders);
  const { url } = changing;
  const [first = 0] = workers(changing);
  const load = startHandOverLoad(url, CLIENTS);
  expect(await statusOf(`${url}/api/restaurants?filters[stars]=3`)).toBe(200);
  const { note } = JSON.parse((await ask(`${url}/health/ready`, false)).text) as { note?: string };
  expect(note).toContain('requests are answered as before');
  while (load.written.length === 0) await delay(5);
  building?.release();
  const next = await nextWorker(changing);
  process.kill(next, 'SIGSTOP');
  const { length: early } = load.written;
  const slowestBefore = load.slowestWrite();
  while (load.written.length < early + LATE) await delay(5);
  const slowestLate = load.slowestWrite();
  process.kill(next, 'SIGCONT');
  await replaced(changing, first);
  await load.stop();
  if (ROWS > 0)
    console.log({ ROWS, LATE, CLIENTS, slowestBefore, slowestLate, slowest: load.slowestWrite() });
  expect(load.failures).toEqual([]);
  await expectChanged(changing, load.written);
  expect((await ask(`${url}/health/ready`, false)).text).not.toContain('note');
  expect(await changing.stop()).toMatchObject({ code: 0, signal: null });
});

/** Waits for the sign of each phase of a change: the process or file of the copy, the next worker, its definitions in the log. */
const PHASES = {
  building: async (changing: RunningServer) => {
    while (childrenOf(changing.worker() ?? 0).length === 0) await delay(1);
  },
  copying: async (changing: RunningServer) => {
    while (!existsSync(nextGraph(changing.data))) await delay(1);
  },
  'getting ready': nextWorker,
  changing: async (changing: RunningServer) => {
    const before = definitions(changing.data);
    while (definitions(changing.data) === before) await delay(1);
  },
} as const;
type Phase = keyof typeof PHASES;
const phases = Object.keys(PHASES) as Phase[];

/** Returns the processes of a server in a phase: the serving one, the next one, and the one that copies the graph. */
function processesOf(changing: RunningServer) {
  const [first = 0, next] = workers(changing);
  return { first, next, builder: childrenOf(first)[0], supervisor: changing.supervisor };
}

const KILLED = [
  ['builder', 'building'],
  ['builder', 'copying'],
  ['next', 'getting ready'],
  ['next', 'changing'],
  ...phases.map((phase) => ['first', phase] as const),
] as const;

it.each(KILLED)('are changed, even if the process %s is killed while %s', LONG, async (name, phase) => {
  const changing = await startChanged();
  const load = startHandOverLoad(changing.url, CLIENTS);
  await PHASES[phase](changing);
  const killed = processesOf(changing)[name] ?? 0;
  if (killed !== 0) process.kill(killed, 'SIGKILL');
  while (isRunning(killed)) await delay(1);
  await expect
    .poll(() => statusOf(`${changing.url}/api/restaurants?filters[score]=3`), { timeout: 120_000 })
    .toBe(200);
  await load.stop();
  await expectChanged(changing, load.written);
  expect(await runVarve(['verify', '--data', changing.data])).toMatchObject({ code: 0 });
  const { stdout } = await runVarve(['rebuild', '--graph', '--data', changing.data]);
  expect(stdout).toContain('is live');
  expect(await changing.stop()).toMatchObject({ code: 0, signal: null });
});

it.each(phases.flatMap((phase) => [['SIGKILL', phase] as const, ['SIGTERM', phase] as const]))(
  'is changed by the next start after %s to the supervisor while %s',
  LONG,
  async (signal, phase) => {
    const { data, contentTypes } = await changedFolder();
    const changing = await server({ data, contentTypes });
    const load = startHandOverLoad(changing.url, CLIENTS);
    await PHASES[phase](changing);
    const { first, next } = processesOf(changing);
    process.kill(changing.supervisor, signal);
    const ended = await changing.exited;
    if (signal === 'SIGTERM') expect(ended).toMatchObject({ code: 0, signal: null });
    await load.stop();
    const again = await server({ data, contentTypes });
    expect([first, next].some((pid) => pid !== undefined && isRunning(pid))).toBe(false);
    await expectChanged(again, load.written);
    expect(await runVarve(['verify', '--data', data])).toMatchObject({ code: 0 });
    expect(await again.stop()).toMatchObject({ code: 0, signal: null });
  },
);
