import { statSync } from 'node:fs';
import type { Database } from '../sqlite/database.ts';
import type { EventRow } from './event-codec.ts';
import { readHead, readLink } from './sqlite-log.ts';

/** Whether the log is still the one that was opened. What is shown and what is stored would drift apart otherwise. */
export type SameLog = {
  /** Throws when the file was replaced or removed: appends would go where nobody finds them. Costs some microseconds. */
  checkFile(): void;
  /** Throws when an event that the log ended with is not in it any more. To be called when other connections have committed. */
  checkHead(): void;
  /** Takes the last event of a commit of this process. */
  committed(row: EventRow | undefined): void;
};

export const watchSameLog = (path: string, db: Database): SameLog => {
  const opened = fileOf(path);
  let head = readHead(db);
  const changed = (what: string) =>
    new Error(
      `${what} while it was open: this process must not go on. Start it again on the log that is meant`,
    );
  return {
    checkFile() {
      if (fileOf(path) !== opened) throw changed(`the log's file ${path} was replaced or removed`);
    },
    checkHead() {
      const found = head.position === 0n ? head.chain : readLink(db, head.position);
      if (found !== head.chain)
        throw changed(`the event at position ${head.position} of ${path} was removed or replaced`);
      head = readHead(db);
    },
    committed(row) {
      const [position, , , , , , , chain] = row ?? [];
      if (position !== undefined && chain !== undefined && position > head.position)
        head = { position, chain };
    },
  };
};

const fileOf = (path: string): string => {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0 };
  return `${dev} ${ino}`;
};
