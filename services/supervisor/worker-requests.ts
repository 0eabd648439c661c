import type { Answer, FromWorker, WorkerRequest } from './protocol.ts';

/** `socket`: the listening socket, if the request was for one. */
export type SupervisorAnswer = { readonly answer: Answer; readonly socket: object | undefined };

/** Requests of this worker that wait for an answer of the supervisor. */
export type WorkerRequests = {
  /** Rejects with the supervisor's error, with its code, if the supervisor refuses. */
  ask(request: WorkerRequest): Promise<SupervisorAnswer>;
  /** Calls `ask` for a request whose answer says only that it was carried out. */
  done(request: WorkerRequest): Promise<void>;
  answered(id: number, answered: SupervisorAnswer): void;
};

/** Creates the state without requests. */
export function createWorkerRequests(): WorkerRequests {
  const waiting = new Map<number, (answered: SupervisorAnswer) => void>();
  let lastId = 0;
  const ask = async (request: WorkerRequest) => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<SupervisorAnswer>();
    waiting.set(id, resolve);
    sendToSupervisor({ kind: 'ask', id, request });
    const { answer, socket } = await promise;
    if (answer.kind === 'refused') throw Object.assign(new Error(answer.error.message), answer.error);
    return { answer, socket };
  };
  return {
    ask,
    done: async (request) => void (await ask(request)),
    answered(id, answered) {
      waiting.get(id)?.(answered);
      waiting.delete(id);
    },
  };
}

/** Does nothing if the supervisor is gone, because this process is ending then. */
export function sendToSupervisor(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
