import type { NextWorker, ToWorker } from '../../services/supervisor/protocol.ts';
import type { WorkerEnd, WorkerProcess } from '../../services/supervisor/worker-process.ts';

/** A worker without a process. The test decides which messages it sends and when it ends. */
export type MemoryWorker = WorkerProcess & {
  readonly heard: readonly ToWorker[];
  readonly isKilled: () => boolean;
  says(step: keyof WorkerProcess['steps'], next?: NextWorker): void;
  ends(): void;
};

export function createMemoryWorker(): MemoryWorker {
  const heard: ToWorker[] = [];
  const ended = Promise.withResolvers<WorkerEnd>();
  const newStep = () => Promise.withResolvers<NextWorker | undefined>();
  const steps = { ready: newStep(), yielded: newStep(), entered: newStep() };
  let isKilled = false;
  return {
    heard,
    isKilled: () => isKilled,
    says: (step, next) => steps[step].resolve(next),
    ends: () => ended.resolve({ code: 1, signal: null }),
    pid: undefined,
    messages: () => 0,
    send: (message) => void heard.push(message),
    kill() {
      isKilled = true;
      ended.resolve({ code: null, signal: 'SIGKILL' });
    },
    steps: {
      ready: steps.ready.promise,
      yielded: steps.yielded.promise,
      entered: steps.entered.promise,
    },
    ended: ended.promise,
  };
}
