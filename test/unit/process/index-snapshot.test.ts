import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { serialize } from 'node:v8';
import { expect, it, vi } from 'vitest';
import type { Varve } from '../../../services/process/open-varve.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import { saveIndex } from '../../../services/read-side/index-snapshot.ts';
import { FULL_ACCESS } from '../../../shared/access/rights.ts';
import { readParts, writeParts } from '../../../shared/part-file.ts';
import type { EmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { dataForTest } from '../../support/data-for-test.ts';
import { findWords } from '../../support/find-words.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';
import { openInProcess } from '../../support/varve-in-process.ts';

const DEPTH = takesMinutes('snapshots of the index that a start does not use');
const SNAPSHOT = 'graph.db-index';

/** Opens Varve, whose every stop saves its index. `loads()`: number of loads of the index from the graph. */
async function open(data: string, savedRows = 1) {
  let loads = 0;
  const plan = embeddedReadSide({ savedRows });
  const readSide: typeof plan = {
    ...plan,
    open(graph, ...rest) {
      const readAll = (batchSize?: number) => {
        loads++;
        return graph.readAll(batchSize);
      };
      return plan.open({ ...graph, readAll }, ...rest);
    },
  };
  return { varve: await openInProcess(data, { readSide }), loads: () => loads };
}

const typeOf = (varve: Varve) => contentTypeOf(varve.registry, 'api::tag.tag');

async function write(varve: Varve, name: string): Promise<void> {
  await varve.apiFor(FULL_ACCESS).content.create(typeOf(varve), '', { data: { key: name, name } });
}

async function names(varve: Varve): Promise<readonly string[]> {
  const text = String(await varve.apiFor(FULL_ACCESS).content.list(typeOf(varve), 'sort=name'));
  return (JSON.parse(text) as { data: readonly { name: string }[] }).data.map(({ name }) => name);
}

/** Makes a data directory with content, and a snapshot of it. */
async function saved(...written: readonly string[]): Promise<string> {
  const data = dataForTest();
  const { varve } = await open(data);
  for (const name of written) await write(varve, name);
  await varve.close();
  expect(existsSync(join(data, SNAPSHOT))).toBe(true);
  return data;
}

/** Starts on a data directory. Returns the names that it shows, and whether the index came from the snapshot. */
async function shown(data: string) {
  const { varve, loads } = await open(data);
  const found = await names(varve);
  await varve.close();
  return { names: found, isRestored: loads() === 0 };
}

it('restores the index that the last stop saved, although the lease was claimed since', async () => {
  const data = await saved('a', 'b');
  expect(statSync(join(data, SNAPSHOT)).mode & 0o777).toBe(0o600);
  expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: true });
  const { varve, loads } = await open(data);
  await write(varve, 'c');
  expect(await names(varve)).toEqual(['a', 'b', 'c']);
  await varve.close();
  expect(loads()).toBe(0);
  expect(await shown(data)).toEqual({ names: ['a', 'b', 'c'], isRestored: true });
});

it('has no word of an erased document, and no later stop of the process writes one', async () => {
  const data = await saved('a', 'Quixotellix', 'z');
  const { varve } = await open(data);
  const { content } = varve.apiFor(FULL_ACCESS);
  const list = await content.list(typeOf(varve), 'filters[name]=Quixotellix');
  const [{ documentId }] = JSON.parse(String(list)).data;
  expect(await findWords(data, ['Quixotellix'])).not.toEqual([]);
  await varve.operator.erase?.({ type: 'api::tag.tag', documentId, confirm: 1 });
  expect(existsSync(join(data, SNAPSHOT))).toBe(false);
  expect(await findWords(data, ['Quixotellix'])).toEqual([]);
  await varve.close();
  expect(await findWords(data, ['Quixotellix'])).toEqual([]);
  expect((await shown(data)).names).toEqual(['a', 'z']);
  expect(await findWords(data, ['Quixotellix'])).toEqual([]);
});

it('restores the index with what was written since, after the process was killed', async () => {
  const data = await saved('a');
  const program = join(import.meta.dirname, '../../support/write-until-killed.ts');
  const child = spawn(process.execPath, [program, data], { stdio: ['ignore', 'pipe', 'inherit'] });
  const written = new Set<string>();
  for await (const line of createInterface(child.stdout)) {
    written.add(line);
    if (written.size === 20) child.kill('SIGKILL');
  }
  const { names, isRestored } = await shown(data);
  expect(isRestored).toBe(true);
  expect(written.difference(new Set(names))).toEqual(new Set());
  expect(names.length).toBeGreaterThanOrEqual(1 + 20);
  expect(await shown(data)).toEqual({ names, isRestored: true });
});

/** Makes a data directory with tags a and b, as a crash leaves it: its snapshot has only a. */
async function crashed(): Promise<string> {
  const data = await saved('a');
  const snapshot = readFileSync(join(data, SNAPSHOT));
  const { varve } = await open(data, 1_000_000);
  await write(varve, 'b');
  await varve.close();
  expect(readFileSync(join(data, SNAPSHOT)).equals(snapshot)).toBe(true);
  return data;
}

it.each([
  ['damaged', "UPDATE index_changes SET batch = x'00'"],
  ['of another program', 'UPDATE index_changes SET batch = $other'],
  ['missing since a later position', 'DELETE FROM index_changes; UPDATE meta SET value = value + 1'],
])('loads the graph if what was written since the snapshot is %s', DEPTH, async (_, sql) => {
  const data = await crashed();
  expect(await shown(copyOf(data))).toEqual({ names: ['a', 'b'], isRestored: true });
  const db = new DatabaseSync(join(data, 'graph.db'));
  const other = `x'${serialize(['0.0.1', [], []]).toString('hex')}'`;
  for (const each of sql.split('; '))
    db.exec(each.replace('$other', other).replace(/value \+ 1$/, "$& WHERE name = 'index_changes_since'"));
  db.close();
  expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: false });
  expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: true });
});

function copyOf(data: string): string {
  const copy = dataForTest();
  cpSync(data, copy, { recursive: true });
  return copy;
}

it(
  'loads the graph if the snapshot is an earlier one, of which the graph has not recorded all changes',
  DEPTH,
  async () => {
    const data = await saved('a');
    const file = join(data, SNAPSHOT);
    const earlier = readFileSync(file);
    const { varve } = await open(data);
    await write(varve, 'b');
    await varve.close();
    writeFileSync(file, earlier);
    expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: false });
    expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: true });
  },
);

it('loads the graph if the snapshot is damaged', async () => {
  const data = await saved('a');
  const file = join(data, SNAPSHOT);
  const whole = readFileSync(file);
  for (const at of [0, 9, whole.length >> 1, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] as number) ^ 1;
    writeFileSync(file, damaged);
    expect(await shown(data), `byte ${at}`).toEqual({ names: ['a'], isRestored: false });
  }
  expect(await shown(data)).toEqual({ names: ['a'], isRestored: true });
});

it.each([
  ['of another log', async (file: string) => copyFileSync(join(await saved('x', 'y'), SNAPSHOT), file)],
  ['of another version', async (file: string) => rewrite(file, { program: '0.0.1' })],
  ['of another projector', async (file: string) => rewrite(file, { projector: 1 })],
  ['of a later position', async (file: string) => rewrite(file, { position: 10_000n })],
])('loads the graph if the snapshot is %s', DEPTH, async (_, change) => {
  const data = await saved('a', 'b');
  await change(join(data, SNAPSHOT));
  expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: false });
});

function rewrite(file: string, change: object): void {
  const [origin, ...parts] = readParts(file);
  writeParts(file, [{ ...(origin as object), ...change }, ...parts]);
}

it('keeps the last snapshot if a process is killed while it writes the next one', async () => {
  const data = await saved('a');
  const file = join(data, SNAPSHOT);
  const program = join(import.meta.dirname, '../../support/save-until-killed.ts');
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(`${file}.part`)).toBe(true);
  expect(await shown(data)).toEqual({ names: ['a'], isRestored: true });
  const { varve } = await open(data);
  await write(varve, 'b');
  await varve.close();
  expect(existsSync(`${file}.part`)).toBe(false);
  expect(await shown(data)).toEqual({ names: ['a', 'b'], isRestored: true });
});

it('gives up a snapshot that takes too long', async () => {
  const data = dataForTest();
  const { varve } = await open(data, 1_000_000);
  await write(varve, 'a');
  const index = (await varve.operator.readSide()).index as EmbeddedIndex;
  const file = join(data, SNAPSHOT);
  const report = vi.fn();
  saveIndex(index, { graph: varve.operator.graph, report }, -1);
  expect(report.mock.calls).toEqual([
    ['a snapshot of the index cannot be written', new Error('it takes too long')],
  ]);
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
  saveIndex(index, { graph: varve.operator.graph, report }, 1e9);
  expect(report).toHaveBeenCalledTimes(1);
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([true, false]);
  await varve.close();
});

it('writes no snapshot of a small index', async () => {
  const data = dataForTest();
  const { varve } = await open(data, 1_000_000);
  await write(varve, 'a');
  await varve.close();
  expect(existsSync(join(data, SNAPSHOT))).toBe(false);
});
