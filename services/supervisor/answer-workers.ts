import { announceDataDirectory, type DirectoryLock } from '../../shared/sqlite/lock-data-directory.ts';
import { type HeldSocket, holdSocket, type SocketHandle } from './held-socket.ts';
import type { Answer, SentError, SocketName, Succession, WorkerRequest } from './protocol.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Sockets and lock that a supervisor holds for its workers. */
export type HeldForWorkers = {
  answer(from: WorkerProcess, request: WorkerRequest): Promise<Answer & { readonly socket?: SocketHandle }>;
  releaseLock(): void;
};

/** `replace`: has another worker take the place of one. */
export function answerWorkers(
  replace: (from: WorkerProcess, succession: Succession) => Promise<void>,
): HeldForWorkers {
  const sockets = new Map<SocketName, HeldSocket>();
  let lock: DirectoryLock | undefined;

  async function carryOut(from: WorkerProcess, request: WorkerRequest): ReturnType<HeldForWorkers['answer']> {
    switch (request.kind) {
      case 'listen': {
        const { socket: name } = request;
        const socket = sockets.get(name) ?? (await holdSocket(request));
        sockets.set(name, socket);
        return { kind: 'listening', socket: socket.handle };
      }
      case 'close':
        sockets.get(request.socket)?.close();
        return { kind: 'done' };
      case 'lock':
        lock ??= announceDataDirectory(request.directory, request.channel);
        return { kind: 'done' };
      case 'hand-over':
        await replace(from, request);
        return { kind: 'done' };
    }
  }

  return {
    releaseLock: () => lock?.release(),
    async answer(from, request) {
      try {
        return await carryOut(from, request);
      } catch (error) {
        const { message, code, errcode } = error as SentError;
        return { kind: 'refused', error: { message, code, errcode } };
      }
    },
  };
}
