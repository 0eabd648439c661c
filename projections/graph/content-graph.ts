import { dirname } from 'node:path';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { RecordedRows } from '../../shared/document/recorded-rows.ts';
import { waitForFreeDisk } from '../../shared/free-disk.ts';
import { tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { type GraphFile, type GraphFileOptions, openGraphFile } from './graph-file.ts';
import { replaceByConverted } from './late-entries.ts';
import { createGraphReader } from './read/graph-reader.ts';
import { createRecordedRows } from './read/recorded-rows.ts';
import { delegateStaleDocuments } from './stale/stale-documents.ts';
import { delegate } from './store/delegate.ts';
import { writerLock } from './store/generation-files.ts';

/**
 * State of the projector: the rows of both worlds and the links between them, computed from the log. It can always be
 * rebuilt: the same log gives the same rows, ids, keys and links, however it is split into batches. It skips events of
 * a leader whose lease had ended, and those of other programs (shared/fleet/fence.ts,
 * shared/event-store/unreadable.ts).
 */
export type ContentGraph = Omit<GraphFile, 'context' | 'command'> & {
  readonly reader: ContentGraphReader;
  readonly recorded: RecordedRows;
  /**
   * Continues from the checkpoint after an error that left the file unchanged, such as a full disk. References to the
   * graph stay valid. Throws if the file cannot be opened; then it can be called again.
   */
  reopen(): void;
  /** Puts a copy that was converted to other content types in the place of this file. Nobody has the copy open. */
  becomeConverted(copy: string): void;
  /** Resolves as soon as the graph's disk has more free space than now, after `atMostMs`, or when `signal` is aborted. */
  waitForFreeDisk(atMostMs: number, signal: AbortSignal): Promise<void>;
};

/**
 * Opens (or creates) the graph's SQLite file. One process at a time has it open, as its counters and keys are in memory too. Waits two
 * seconds for a process that is ending, then throws a sentence.
 */
export function openContentGraph(file: string, options: GraphFileOptions = {}): ContentGraph {
  const lock = tryLockFile(writerLock(file), WRITER_ENDS_MS);
  if (lock === undefined) throw new Error(`another process has ${file} open and writes to it`);
  let current: GraphFile;
  try {
    current = openGraphFile(file, options);
  } catch (error) {
    lock.release();
    throw error;
  }
  const position = () => current.position();
  return {
    ...delegate(() => current, ['apply', 'replay', 'settle', 'position', 'lastEvent', 'readFrom', 'epochAt']),
    ...delegate(
      () => current,
      ['projectorVersion', 'registry', 'definition', 'size', 'foreignEvents', 'inspect'],
    ),
    ...delegate(() => current, ['readAll', 'takeLate']),
    reader: createGraphReader(() => current.context(), {
      position,
      command: (id) => current.command(id),
    }),
    recorded: createRecordedRows(() => current.context()),
    stale: current.stale && delegateStaleDocuments(() => current.stale),
    close() {
      try {
        current.close();
      } finally {
        lock.release();
      }
    },
    reopen() {
      // Opened before the other is closed: closing frees files that a full disk has no space for.
      const next = openGraphFile(file, options);
      current.close();
      current = next;
    },
    becomeConverted(copy) {
      current.close();
      replaceByConverted(file, copy);
      current = openGraphFile(file, options);
    },
    waitForFreeDisk: (atMostMs, signal) => waitForFreeDisk(dirname(file), atMostMs, signal),
  };
}

const WRITER_ENDS_MS = 2_000;
