import { dirname } from 'node:path';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { RecordedRows } from '../../shared/document/recorded-rows.ts';
import { waitForFreeDisk } from '../../shared/free-disk.ts';
import { type FileLock, tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { type GraphFile, type GraphFileOptions, lookAtGraphFile, openGraphFile } from './graph-file.ts';
import { createGraphReader } from './read/graph-reader.ts';
import { createRecordedRows } from './read/recorded-rows.ts';
import { delegateStaleDocuments } from './stale/stale-documents.ts';
import { delegate } from './store/delegate.ts';
import { removeSnapshot, snapshotFile, writerLock } from './store/generation-files.ts';

/**
 * State of the projector: the rows of both worlds and the links between them, computed from the log. The same log always gives the same
 * rows, ids, keys and links, however it is split into batches. The graph skips events of a leader whose lease had ended, and events of
 * other programs (shared/fleet/claims.ts, shared/event-store/unreadable.ts).
 */
export type ContentGraph = Omit<GraphFile, 'context' | 'command'> & {
  readonly reader: ContentGraphReader;
  readonly recorded: RecordedRows;
  /** File for a snapshot of the index that is made from this graph; undefined if this process does not write the graph's file. */
  readonly snapshotFile: string | undefined;
  /** Removes the snapshot of the index. This process saves no other, because its index may have values that are no longer in the graph. */
  forgetSnapshot(): void;
  /**
   * Continues from the checkpoint after an error that left the file unchanged, such as a full disk. References to the graph stay valid.
   * Throws if the file cannot be opened; then it can be called again.
   */
  reopen(): void;
  /** Resolves as soon as the graph's disk has more free space than now, after `atMostMs`, or when `signal` is aborted. */
  waitForFreeDisk(atMostMs: number, signal: AbortSignal): Promise<void>;
};

/**
 * Opens (or creates) the graph's SQLite file. Only one process may have it open, because its counters and keys are also in memory. Waits
 * two seconds for a process that is ending, then throws an error with a message.
 */
export function openContentGraph(file: string, options: GraphFileOptions = {}): ContentGraph {
  const lock = tryLockFile(writerLock(file), WRITER_ENDS_MS);
  if (lock === undefined) throw new Error(`another process has ${file} open and writes to it`);
  try {
    return contentGraph(file, () => openGraphFile(file, options), lock, snapshotOf(file));
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens the graph's file for reading, and changes nothing, so the file may have a writer. Throws a message if there is no file, or it has
 * the format of an earlier release.
 */
export function lookAtContentGraph(
  file: string,
  options: Pick<GraphFileOptions, 'dependencies'> = {},
): ContentGraph {
  return contentGraph(file, () => lookAtGraphFile(file, options), { release: () => undefined });
}

/** Opens a graph without events in memory. */
export function openEmptyGraph(): ContentGraph {
  return contentGraph(':memory:', () => openGraphFile(':memory:', {}), { release: () => undefined });
}

function contentGraph(file: string, open: () => GraphFile, lock: FileLock, snapshot?: string): ContentGraph {
  let current = open();
  let saved = snapshot;
  const { context, command, ...methods } = delegate(() => current);
  return {
    ...methods,
    get snapshotFile() {
      return saved;
    },
    forgetSnapshot() {
      saved = undefined;
      current.indexChanges.end();
      if (snapshot !== undefined) removeSnapshot(snapshot);
    },
    reader: createGraphReader(context, { position: methods.position, command }),
    recorded: createRecordedRows(context),
    stale: current.stale && delegateStaleDocuments(() => current.stale),
    indexChanges: delegate(() => current.indexChanges),
    close() {
      try {
        current.close();
      } finally {
        lock.release();
      }
    },
    reopen() {
      // Opens the new file before it closes the old one: closing removes files, and a full disk may have no space for them again.
      const next = open();
      current.close();
      current = next;
    },
    waitForFreeDisk: (atMostMs, signal) => waitForFreeDisk(dirname(file), atMostMs, signal),
  };
}

function snapshotOf(file: string): string | undefined {
  return file === ':memory:' ? undefined : snapshotFile(file);
}

const WRITER_ENDS_MS = 2_000;
