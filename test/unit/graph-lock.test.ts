import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-graph-lock-'));
  file = join(folder, 'graph.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('one process has a graph open: another one is refused after two seconds, and opens it as soon as the first is killed', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../support/hold-graph.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(() => openContentGraph(file)).toThrow(`another process has ${file} open and writes to it`);
  child.kill('SIGKILL');
  openContentGraph(file).close();
  await once(child, 'exit');
});

it('a graph that cannot be opened is free for the next attempt', () => {
  writeFileSync(file, 'this is not a database, and it is longer than the header of one '.repeat(20));
  expect(() => openContentGraph(file)).toThrow('file is not a database');
  rmSync(file);
  openContentGraph(file).close();
});

it('is still locked after it was opened again', () => {
  const graph = openContentGraph(file);
  graph.reopen();
  expect(graph.position()).toBe(0n);
  graph.close();
  openContentGraph(file).close();
});

it('graphs in memory are open next to each other, and leave no file', () => {
  const graphs = [openContentGraph(':memory:'), openContentGraph(':memory:')];
  for (const graph of graphs) graph.close();
  expect(existsSync(':memory:-lock')).toBe(false);
});
