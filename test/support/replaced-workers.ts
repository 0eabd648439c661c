import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { ask } from './hand-over-load.ts';
import { workersOf } from './processes.ts';
import { runVarve } from './run-varve.ts';
import type { RunningServer } from './server.ts';

/** Creates a restaurant; its status. On a connection of its own: one to a process that was killed is lost. */
export async function create(url: string, name: string): Promise<number> {
  return (await ask(`${url}/api/restaurants`, false, { data: { key: name, name } })).status;
}

/** Names of all restaurants, sorted. */
export async function names(url: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let start = 0; ; start += 100) {
    const page = `pagination[start]=${start}&pagination[limit]=100`;
    const answer = await ask(`${url}/api/restaurants?${page}&sort=name&fields=name`, false);
    expect(answer.status).toBe(200);
    const { data } = JSON.parse(answer.text) as { data: { name: string }[] };
    if (data.length === 0) return found.sort();
    found.push(...data.map(({ name }) => name));
  }
}

/** Number of the generation that serves. */
export async function generation({ data }: RunningServer): Promise<number> {
  const { stdout } = await runVarve(['status', '--json', '--data', data]);
  const { projections } = JSON.parse(stdout) as { projections: { generation: number }[] };
  return projections[0]?.generation ?? 0;
}

/** Workers of a server, the one that serves first. */
export function workers({ supervisor }: RunningServer): readonly number[] {
  return workersOf(supervisor);
}

/** Resolves to the worker that gets ready next to the one that serves. */
export async function nextWorker(server: RunningServer): Promise<number> {
  for (;;) {
    const [, next] = workers(server);
    if (next !== undefined) return next;
    await delay(2);
  }
}

/** Resolves when the worker before has ended. */
export async function replaced(server: RunningServer, before: number): Promise<void> {
  while ([before, undefined].includes(server.worker())) await delay(5);
}
