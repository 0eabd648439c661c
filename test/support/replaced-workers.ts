import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { ask } from './hand-over-load.ts';
import { workersOf } from './processes.ts';
import { runVarve } from './run-varve.ts';
import type { RunningServer } from './server.ts';

/** Creates a restaurant and returns the status. It uses a new connection, since one to a killed process would be lost. */
export async function create(url: string, name: string): Promise<number> {
  return (await ask(`${url}/api/restaurants`, false, { data: { key: name, name } })).status;
}

/** Returns the names of all restaurants, sorted. */
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

/** Returns the number of the live generation. */
export async function generation({ data }: RunningServer): Promise<number> {
  const { stdout } = await runVarve(['status', '--json', '--data', data]);
  const { projections } = JSON.parse(stdout) as { projections: { generation: number }[] };
  return projections[0]?.generation ?? 0;
}

/** Returns the workers of a server, the serving one first. */
export function workers({ supervisor }: RunningServer): readonly number[] {
  return workersOf(supervisor);
}

/** Resolves to the worker that prepares to replace the serving one. */
export async function nextWorker(server: RunningServer): Promise<number> {
  for (;;) {
    const [, next] = workers(server);
    if (next !== undefined) return next;
    await delay(2);
  }
}

/** Resolves when another worker serves than `before`. */
export async function replaced(server: RunningServer, before: number): Promise<void> {
  while ([before, undefined].includes(server.worker())) await delay(5);
}
