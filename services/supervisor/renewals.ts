import type { WorkerProcess } from './worker-process.ts';

/** The request that the newly installed program serves. It waits until a worker can carry it out; several requests are one. */
export type Renewals = ReturnType<typeof createRenewals>;

/** Creates the state without a request. `serving`: the worker that serves, or prepares to; undefined if the request has to wait. */
export function createRenewals(serving: () => WorkerProcess | undefined) {
  /** Workers that have said that they serve. */
  const served = new WeakSet<WorkerProcess>();
  let isWanted = false;
  let handOvers = 0;

  function send(): void {
    const worker = serving();
    // A rebuild ends with the worker that another one replaces.
    if (!isWanted || handOvers > 0 || worker === undefined || !served.has(worker)) return;
    isWanted = false;
    worker.send({ kind: 'renew' });
  }

  return {
    want(): void {
      isWanted = true;
      send();
    },
    /** A worker has said that it serves. */
    serves(worker: WorkerProcess): void {
      served.add(worker);
      send();
    },
    /** Lets requests wait until a hand-over is over. */
    async after(handOver: Promise<void>): Promise<void> {
      handOvers++;
      try {
        await handOver;
      } finally {
        handOvers--;
        send();
      }
    },
  };
}
