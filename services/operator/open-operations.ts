import {
  DataDirectoryInUse,
  type DirectoryLock,
  lockDataDirectory,
} from '../../shared/sqlite/lock-data-directory.ts';
import { callOperator } from './call-operator.ts';
import type { LineOf, Operations } from './operations.ts';

/** A data directory that this process has opened for operations. */
export type OpenedHere = {
  /** As `runOperation`. */
  run(name: string, request: unknown, signal: AbortSignal): AsyncIterable<unknown>;
  close(): Promise<void>;
};

/**
 * The operations of a data directory: done by the server that holds it, or in this process when nobody does, which then holds
 * it (`openHere`, told that the lock is taken) until `close`. Throws DataDirectoryInUse when a process has it that takes no
 * requests, another command for example.
 */
export async function openOperations(data: string, openHere: () => Promise<OpenedHere>): Promise<Operations> {
  const lock = tryLock(data);
  if ('channel' in lock) {
    const { channel } = lock;
    return {
      where: 'server',
      run: (name, request, signal) =>
        callOperator(channel, name, request, signal) as AsyncIterable<LineOf<typeof name>>,
      close: async () => {},
    };
  }
  const opened = await openHere().catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const never = new AbortController().signal;
  return {
    where: 'here',
    run: (name, request, signal = never) =>
      opened.run(name, request, signal) as AsyncIterable<LineOf<typeof name>>,
    async close() {
      await opened.close();
      lock.release();
    },
  };
}

function tryLock(
  data: string,
): DirectoryLock | { readonly channel: NonNullable<DataDirectoryInUse['holder']>['channel'] & {} } {
  try {
    return lockDataDirectory(data);
  } catch (error) {
    const channel = error instanceof DataDirectoryInUse ? error.holder?.channel : undefined;
    if (channel === undefined) throw error;
    return { channel };
  }
}
