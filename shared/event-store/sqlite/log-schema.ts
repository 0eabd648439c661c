import type { Migration } from '../../sqlite/migrate.ts';
import { SPACE_OF_STREAM } from '../stream-space.ts';
import { chainNextEvents, keepCopy, refuseWithoutDisk } from './log-upgrade.ts';

/**
 * Schema of the log's file. Version 1 is that of releases without a hash chain. The upgrade from it keeps every column of those releases,
 * so a process that still has the file open continues to read. A trigger refuses its inserts.
 */
export const LOG_MIGRATIONS: readonly Migration[] = [
  `CREATE TABLE event (
     position INTEGER PRIMARY KEY,
     stream   TEXT    NOT NULL,
     revision INTEGER NOT NULL,
     id       TEXT    NOT NULL,
     type     TEXT    NOT NULL,
     data     TEXT    NOT NULL,
     metadata TEXT    NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX event_by_stream ON event (stream, revision);
   CREATE UNIQUE INDEX event_by_id ON event (id);`,
  {
    prepare: refuseWithoutDisk,
    step(db) {
      db.exec(`CREATE TRIGGER event_waits_for_copy BEFORE INSERT ON event
               BEGIN SELECT RAISE(ABORT, 'this log is being upgraded by a newer release of Varve'); END`);
      return 'done';
    },
  },
  {
    prepare: keepCopy,
    step(db) {
      db.exec(
        chainSchema(Number(db.prepare('SELECT max(position) AS last FROM event').get()?.['last'] ?? 0)),
      );
      return 'done';
    },
  },
  { step: chainNextEvents },
  // Event ids are unique within a namespace.
  'DROP INDEX event_by_id',
];

/**
 * Returns the schema of the chain. `last`: position of the last event of the earlier release. Later events must have a link, so inserts of
 * that release fail; a constraint costs an append less than a trigger. A span says that all events from its first one to the next span
 * belong to one namespace. The index over ids covers events with a link, so it is created instantly and grows with the chain.
 */
function chainSchema(last: number): string {
  return `
  DROP TRIGGER event_waits_for_copy;
  ALTER TABLE event ADD COLUMN chain TEXT
    CONSTRAINT "this log was upgraded by a newer release of Varve: start that release" CHECK (chain IS NOT NULL OR position <= ${last});
  CREATE UNIQUE INDEX event_by_id_in_space ON event (id, ${SPACE_OF_STREAM}) WHERE chain IS NOT NULL;
  CREATE TABLE span (first INTEGER PRIMARY KEY, space TEXT NOT NULL) STRICT;
  CREATE INDEX span_by_space ON span (space, first);
  CREATE TABLE chain_progress (position INTEGER NOT NULL, chain TEXT NOT NULL) STRICT;
  INSERT INTO chain_progress VALUES (0, '');`;
}
