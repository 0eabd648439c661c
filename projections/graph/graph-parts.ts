import { openJournal } from '../journal/journal.ts';
import type { GraphContext } from './apply/graph-context.ts';
import { type Definitions, openDefinitions } from './convert/definitions.ts';
import type { ReaderContext } from './read/graph-reader.ts';
import { createChangeLog } from './store/change-log.ts';
import { type AppliedClaims, openClaims } from './store/claims.ts';
import { type Commands, openCommands } from './store/commands.ts';
import { openNames } from './store/entry-names.ts';
import { type ForeignEventCounter, openForeignEvents } from './store/foreign-events.ts';
import type { GraphDatabase } from './store/graph-database.ts';
import { openGraphSession } from './store/graph-session.ts';
import { type IndexChanges, openIndexChanges } from './store/index-changes.ts';
import { openKeptLinks } from './store/kept-links.ts';
import { openKeptValues } from './store/kept-values.ts';
import { createLinkStore } from './store/link-store.ts';
import { type LogCheckpoint, openLogCheckpoint } from './store/log-checkpoint.ts';
import { openPendingEdits } from './store/pending-edits.ts';
import { openRowIds } from './store/row-ids.ts';
import { createExistingRows } from './store/row-keys.ts';
import { loadSequences } from './store/sequences.ts';

/** Tables of one open file, and their parts in memory. */
export type GraphParts = Omit<GraphContext, 'schema' | 'session' | 'flush'> & {
  readonly definitions: Definitions;
  readonly claims: AppliedClaims;
  readonly foreign: ForeignEventCounter;
  readonly commands: Commands;
  readonly checkpoint: LogCheckpoint;
  readonly indexChanges: IndexChanges;
};

/** Reads the tables that are in memory: counters, names, definitions and one bit for each row. */
export function openGraphParts(db: GraphDatabase): GraphParts {
  const sequences = loadSequences(db);
  const names = openNames(db, sequences);
  const definitions = openDefinitions(db, names);
  const existing = createExistingRows();
  for (const [key, type] of db.all('SELECT key, type FROM rows')) existing.add(key as number, type as number);
  const changes = createChangeLog(existing);
  const relationOf = (number: number) => definitions.view().relationOfNumber(number);
  return {
    db,
    sequences,
    names,
    definitions,
    existing,
    changes,
    claims: openClaims(db),
    foreign: openForeignEvents(db),
    commands: openCommands(db),
    pending: openPendingEdits(db),
    keptValues: openKeptValues(db),
    keptLinks: openKeptLinks(db),
    journal: openJournal(db),
    links: createLinkStore(db, relationOf, changes, names.isFresh),
    ids: openRowIds(db),
    checkpoint: openLogCheckpoint(db),
    indexChanges: openIndexChanges(db),
  };
}

/** Context of a series of events with the same definitions. */
export function contextOf(parts: GraphParts): GraphContext {
  const { db, names, ids, links, existing, changes } = parts;
  const session = openGraphSession(db, names, existing, changes);
  const flush = () => {
    for (const part of [names, ids, links]) part.flush();
  };
  return { ...parts, schema: parts.definitions.view(), session, flush };
}

/** Returns the context of reads, for the current definitions. */
export function readerContextOf(parts: GraphParts): ReaderContext {
  return { ...parts, schema: parts.definitions.view() };
}
