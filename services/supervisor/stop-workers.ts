import type { WorkerHost } from './answer-workers.ts';
import { within } from './hand-over.ts';
import type { ReadingWorkers } from './reading-workers.ts';
import type { Successions } from './successions.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Workers begin to stop after this, even if others that send them requests still answer. */
const OTHERS_STOP_MS = 1_000;

/** A server that is stopping. Its members change while workers end. */
export type StoppedServer = {
  readonly reading: ReadingWorkers;
  readonly requests: WorkerHost;
  readonly successions: Successions;
  readonly serving: WorkerProcess | undefined;
  readonly workers: ReadonlySet<WorkerProcess>;
};

/** Stops the leader last, because the reading workers send it the writes of their last requests. */
export async function stopWorkers(
  server: StoppedServer,
  signal: NodeJS.Signals,
  drainMs: number,
): Promise<void> {
  const { reading, requests, workers } = server;
  const since = performance.now();
  const stopNow = (worker: WorkerProcess) =>
    worker.send({ kind: 'stop', reason: signal, elapsedMs: performance.now() - since });
  await endHandOver(server, drainMs);
  // Before these workers stop: a client whose connection ends would connect again.
  requests.shared()?.close();
  const readers = reading.all();
  for (const worker of readers) stopNow(worker);
  await haveEnded(readers);
  // Replaced workers have been stopped before.
  const stopped = [...readers, ...replacedWorkers(server)];
  for (const worker of workers) if (!stopped.includes(worker)) stopNow(worker);
}

/**
 * Ends a hand-over. Kills a worker that prepares to serve: it has no requests, and would keep the listening socket open. If another worker
 * has stepped down for it, waits until it serves, and then for replaced workers, because they send it their requests.
 */
async function endHandOver(server: StoppedServer, drainMs: number): Promise<void> {
  const { reading, serving, successions, workers } = server;
  const others = [serving, ...reading.all(), ...replacedWorkers(server)];
  for (const worker of replacedWorkers(server)) worker.send({ kind: 'hurry' });
  if (successions.isSwitching()) await within(drainMs, [successions.switched()]);
  else {
    const preparing = [...workers].filter((worker) => !others.includes(worker));
    for (const worker of preparing) worker.kill();
    await haveEnded(preparing);
  }
  await haveEnded(replacedWorkers(server));
}

function replacedWorkers({ reading, successions }: StoppedServer): readonly WorkerProcess[] {
  const retiring = successions.retiring();
  return retiring === undefined ? reading.retired() : [retiring, ...reading.retired()];
}

async function haveEnded(workers: readonly WorkerProcess[]): Promise<void> {
  if (workers.length > 0) await within(OTHERS_STOP_MS, [Promise.all(workers.map(({ ended }) => ended))]);
}
