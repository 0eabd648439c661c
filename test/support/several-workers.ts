import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { ask } from './hand-over-load.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';
import type { WorkerPairs } from './worker-pairs.ts';

const READS = 'this worker answers reads';

/** Starts a server with two workers. Resolves when both are in the rotation. */
export async function startWorkers(
  args: readonly string[] = [],
  options: ServerOptions = {},
): Promise<RunningServer> {
  const server = await startServer({
    ...options,
    arguments: ['--workers', '2', '--log-level', 'info', ...args],
  });
  onTestFinished(() => server.dispose());
  await inRotation(server, 1);
  return server;
}

/** Resolves when workers other than the leading one have entered the rotation so many times since the start. */
export async function inRotation(server: RunningServer, times: number): Promise<void> {
  while (server.output().split(READS).length <= times) await delay(5);
}

/** Returns the pids of the leader and of the other worker. */
export function pids(server: RunningServer): { readonly leading: number; readonly reading: number } {
  const [leading = 0] = last(server, 'this process is the leader');
  const [reading = 0] = last(server, READS);
  return { leading, reading };
}

function last(server: RunningServer, message: string): readonly number[] {
  const lines = server.output().split('\n');
  return lines
    .filter((line) => line.includes(message))
    .map((line) => (JSON.parse(line) as { pid: number }).pid)
    .reverse();
}

export async function stopPairs(server: RunningServer, pairs: WorkerPairs): Promise<void> {
  await pairs.stop();
  expect(pairs.stale).toEqual([]);
  for (const id of pairs.written.slice(-50)) {
    const { status } = await ask(`${server.url}/api/restaurants/${id}?fields=name`, false);
    expect(status).toBe(200);
  }
}

/** Expects no failed requests, unless the machine is so busy that a worker got no time for 2 s and was killed. */
export function expectNoFailures(server: RunningServer, { failures }: WorkerPairs): void {
  if (!server.output().includes('"signal":"SIGKILL"')) expect(failures).toEqual([]);
}
