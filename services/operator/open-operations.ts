import {
  DataDirectoryInUse,
  type DirectoryLock,
  isDirectoryLocked,
  lockDataDirectory,
  type OperatorChannel,
  readDirectoryHolder,
} from '../../shared/sqlite/lock-data-directory.ts';
import { callOperator, ServerGone } from './call-operator.ts';
import type { LineOf, LookName, Looks, Operations } from './operations.ts';

/** Data directory that this process has opened for operations. */
export type OpenedHere = {
  /** Runs an operation like `runOperation`. */
  run(name: string, request: unknown, signal: AbortSignal): AsyncIterable<unknown>;
  close(): Promise<void>;
};

/**
 * Opens the operations of a data directory. Its server runs them. If there is none, this process runs them, and has the lock until `close`
 * (`openHere` is called after locking). Throws DataDirectoryInUse if the lock belongs to a process that accepts no requests, for example
 * another command.
 */
export async function openOperations(data: string, openHere: () => Promise<OpenedHere>): Promise<Operations> {
  const lock = tryLock(data);
  if ('channel' in lock) return askServer(lock.channel);
  const opened = await openHere().catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const never = new AbortController().signal;
  return {
    run: (name, request, signal = never) =>
      opened.run(name, request, signal) as AsyncIterable<LineOf<typeof name>>,
    async close() {
      await opened.close();
      lock.release();
    },
  };
}

/**
 * Returns the operations of the server of a data directory. Throws ServerGone if no server has the directory. Unlike `openOperations` it
 * never locks the directory, because the next server is about to lock it.
 */
export function operationsOfServer(data: string): Operations {
  const channel = readDirectoryHolder(data)?.channel;
  if (channel === undefined) throw new ServerGone('no server has the data directory now');
  return askServer(channel);
}

/** Data directory that this process has opened for reading. */
export type LookedHere = {
  run(name: LookName, request: unknown, signal: AbortSignal): AsyncIterable<unknown>;
  close(): Promise<void>;
};

/**
 * Opens the operations that only look at a data directory. Its server runs them. If there is none, this process reads the files, and
 * changes and locks nothing.
 */
export async function openLooks(data: string, lookHere: () => Promise<LookedHere>): Promise<Looks> {
  const channel = isDirectoryLocked(data) ? readDirectoryHolder(data)?.channel : undefined;
  if (channel !== undefined) return askServer(channel);
  const looked = await lookHere();
  const never = new AbortController().signal;
  return {
    run: (name, request, signal = never) =>
      looked.run(name, request, signal) as AsyncIterable<LineOf<typeof name>>,
    close: looked.close,
  };
}

function askServer(channel: OperatorChannel): Operations {
  return {
    run: (name, request, signal) =>
      callOperator(channel, name, request, signal) as AsyncIterable<LineOf<typeof name>>,
    close: async () => {},
  };
}

function tryLock(data: string): DirectoryLock | { readonly channel: OperatorChannel } {
  try {
    return lockDataDirectory(data);
  } catch (error) {
    return { channel: channelOfHolder(error) };
  }
}

/**
 * Returns the channel on which the process with the lock of a data directory accepts requests. Throws any other error, and an error if that
 * process accepts none.
 */
export function channelOfHolder(error: unknown): OperatorChannel {
  const channel = error instanceof DataDirectoryInUse ? error.holder?.channel : undefined;
  if (channel === undefined) throw error;
  return channel;
}
