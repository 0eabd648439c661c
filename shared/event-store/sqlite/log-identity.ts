import { statSync } from 'node:fs';
import type { Database } from '../../sqlite/database.ts';
import type { EventRow } from '../event-codec.ts';
import { readHead, readLink } from './sqlite-log.ts';

/** Last event of the log. */
export type Head = ReturnType<typeof readHead>;

/** State of a log at the last check: the file, and its last event. */
export type KnownLog = { readonly file: string; readonly head: Head };

/** Error for a log that is not the one that was opened. Stored events and served content would diverge. */
export class LogReplaced extends Error {}

function replaced(what: string) {
  return new LogReplaced(
    `${what} while it was open: this process cannot continue. Start it again on the right log`,
  );
}

/** Throws LogReplaced when the file at `path` is not the one that was opened. */
export function refuseOtherFile(path: string, file: string): void {
  if (fileOf(path) !== file) throw replaced(`the log's file ${path} was replaced or removed`);
}

/** Throws LogReplaced if the last known event is no longer in the log. `head`: the log's current last event. */
export function refuseOtherHistory(db: Database, head: Head, known: Head): void {
  if (head.position === known.position && head.chain === known.chain) return;
  const found = known.position === 0n ? known.chain : readLink(db, known.position);
  if (found !== known.chain)
    throw replaced(`the event at position ${known.position} of the log was removed or replaced`);
}

/** Checks whether the log is still the one that was opened. */
export type SameLog = ReturnType<typeof watchLogIdentity>;

/** Milliseconds between checks of the file. Each commit has its own check (see log-writer.ts). */
const FILE_LOOK_MS = 50;

/** Starts to watch the file at `path`: its inode, and the last event with its chain. */
export function watchLogIdentity(path: string, db: Database) {
  const file = fileOf(path);
  let head = readHead(db);
  let lookedAt = performance.now();
  return {
    known: (): KnownLog => ({ file, head }),
    /** Throws LogReplaced. A check costs some microseconds, so it is omitted if one was made a moment ago. */
    checkFile(): void {
      const now = performance.now();
      if (now - lookedAt < FILE_LOOK_MS) return;
      lookedAt = now;
      refuseOtherFile(path, file);
    },
    /** Takes the log's last event after a commit of another connection. Returns whether the event is new. Throws LogReplaced. */
    hasMoved(found: Head): boolean {
      if (found.position === head.position && found.chain === head.chain) return false;
      refuseOtherHistory(db, found, head);
      head = found;
      return true;
    },
    /** Records the last event of a commit of this process. */
    committed(row: EventRow | undefined): void {
      const [position, , , , , , , chain] = row ?? [];
      if (position !== undefined && chain !== undefined && position > head.position)
        head = { position, chain };
    },
  };
}

function fileOf(path: string): string {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0 };
  return `${dev} ${ino}`;
}
