import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { lookAtDatabase } from '../../shared/sqlite/look-at-database.ts';
import { requireCurrentSchema } from '../../shared/sqlite/migrate.ts';
import { type Database, openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';
import type { Difference } from './digest.ts';
import {
  type Generation,
  type GenerationSource,
  isEnded,
  NO_PROGRESS,
  type Rebuild,
  type RebuildPhase,
  type RebuildProgress,
  type RebuildScope,
} from './generation.ts';

/**
 * Record of the generations of a data directory and of its rebuild. It is a file that the server and the rebuilding process have open at
 * the same time.
 */
export type GenerationStore = {
  /** Identity of the data directory: 16 hex digits that no other directory has. */
  directory(): string;
  /** Records the generation that a request of an operator makes live. */
  noteRequest(id: string, generation: number): void;
  /** Returns the generation of a recorded request; undefined if it is not known. */
  requested(id: string): number | undefined;
  /** Returns all generations, ordered by number. */
  generations(): readonly Generation[];
  live(): Generation;
  /** Returns the last rebuild that was started; undefined if there never was one. */
  rebuild(): Rebuild | undefined;
  /** Starts a rebuild of a new generation. Throws if the last rebuild has not ended. */
  begin(scope: RebuildScope, at: string): Rebuild;
  /** Enters a phase. The reason of a requested cancellation stays recorded. */
  enter(rebuild: number, phase: RebuildPhase, message?: string): void;
  /** Records a failure. The rebuild can continue from its checkpoint. */
  note(rebuild: number, message: string): void;
  advance(rebuild: number, progress: RebuildProgress): void;
  /** Records what a process asks of the rebuild. `reason`: why; absent: the recorded message stays. */
  want(rebuild: number, wanted: Rebuild['wanted'], reason?: string): void;
  /** Returns the differences that the verification of the last rebuild found, as many as were recorded. */
  differences(): readonly Difference[];
  noteDifferences(differences: readonly Difference[]): void;
  /** Records the indices of a generation. Call this before they are created, and before a live generation is replaced. */
  noteIndices(number: number, indices: IndexSet): void;
  /**
   * Records the generation to which readers outside the process are about to switch; undefined: none. The index itself makes the switch.
   * Until `setLive`, only the index knows whether the switch happened.
   */
  markSwitch(number: number | undefined): void;
  switching(): Generation | undefined;
  /** Makes the generation live, which ends the rebuild that made it. The generation that was live is kept, with its recorded indices. */
  setLive(number: number): void;
  /** Removes the generation from the record. Throws if it is live. */
  forget(number: number): void;
  close(): void;
};

const MIGRATIONS = [
  `CREATE TABLE generation (
     number  INTEGER PRIMARY KEY,
     state   TEXT NOT NULL,
     source  TEXT NOT NULL,
     made_at TEXT NOT NULL
   ) STRICT;
   -- The graph that directories had before there were generations.
   INSERT INTO generation VALUES (1, 'live', 'log', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
   CREATE TABLE rebuild (
     id         INTEGER PRIMARY KEY AUTOINCREMENT,
     scope      TEXT NOT NULL,
     generation INTEGER NOT NULL,
     phase      TEXT NOT NULL,
     wanted     TEXT NOT NULL,
     started_at TEXT NOT NULL,
     progress   TEXT NOT NULL,
     message    TEXT
   ) STRICT;
   -- What the verification of the last rebuild found.
   CREATE TABLE difference (
     "group" TEXT NOT NULL,
     name    TEXT NOT NULL,
     before  TEXT,
     after   TEXT
   ) STRICT;`,
  `ALTER TABLE generation ADD COLUMN indices TEXT;
   ALTER TABLE generation ADD COLUMN switching INTEGER NOT NULL DEFAULT 0;`,
  `CREATE TABLE directory (id TEXT NOT NULL) STRICT;
   INSERT INTO directory VALUES (lower(hex(randomblob(8))));
   -- Requests of operators that led to a generation.
   CREATE TABLE request (
     id         TEXT PRIMARY KEY,
     generation INTEGER NOT NULL
   ) STRICT;`,
] as const;

type GenerationRow = readonly [
  ...[number: number, state: Generation['state'], source: GenerationSource],
  ...[indices: string | null, switching: number],
];
type RebuildRow = readonly [
  ...[id: number, scope: string, generation: number, phase: RebuildPhase, wanted: Rebuild['wanted']],
  ...[startedAt: string, progress: string, message: string | null],
];

const GENERATIONS = 'SELECT number, state, source, indices, switching FROM generation ORDER BY number';
const LAST_REBUILD = `SELECT id, scope, generation, phase, wanted, started_at, progress, message FROM rebuild
  ORDER BY id DESC LIMIT 1`;

const INSERT_GENERATION = `INSERT INTO generation (number, state, source, made_at) VALUES (?, 'building', ?, ?)`;
const INSERT_REBUILD = `INSERT INTO rebuild (scope, generation, phase, wanted, started_at, progress)
  VALUES (?, ?, ?, 'run', ?, ?)`;

const ENTER = `UPDATE rebuild SET phase = ?, message = coalesce(?, CASE wanted WHEN 'cancel' THEN message END)
  WHERE id = ?`;
const WANT = 'UPDATE rebuild SET wanted = ?, message = coalesce(?, message) WHERE id = ?';

const OPTIONS = { durability: 'normal', migrations: MIGRATIONS } as const;

/** Opens the record of a data directory's generations, or creates it. */
export function openGenerationStore(data: string): GenerationStore {
  const db = openDatabase(join(data, 'generations.db'), OPTIONS);
  return generationStore(db, () => db.close());
}

/**
 * Opens the record for reading, and changes nothing. A directory without a record has one generation. Throws a message if the record has
 * the format of an earlier release.
 */
export function lookAtGenerations(data: string): GenerationStore {
  const file = join(data, 'generations.db');
  if (!existsSync(file)) {
    const db = openDatabase(':memory:', OPTIONS);
    return generationStore(db, () => db.close());
  }
  const { connection, close } = lookAtDatabase(file);
  requireCurrentSchema(file, connection, MIGRATIONS.length);
  return generationStore(connection, close);
}

function generationStore(db: Database, close: () => void): GenerationStore {
  const run = (sql: string, ...values: (string | number | null)[]) => prepared(db, sql).run(...values);
  const all = <Row>(sql: string): readonly Row[] =>
    prepared(db, sql, { arrays: true }).all() as unknown as readonly Row[];
  const generations = () => all<GenerationRow>(GENERATIONS).map(generationOf);
  const live = () => {
    const found = generations().find(({ state }) => state === 'live');
    if (found === undefined) throw new Error('no generation is live');
    return found;
  };
  const rebuild = () => {
    const [row] = all<RebuildRow>(LAST_REBUILD);
    return row === undefined ? undefined : rebuildOf(row);
  };
  return {
    directory: () => String(prepared(db, 'SELECT id FROM directory').get()?.['id']),
    noteRequest: (id, number) => void run('INSERT OR REPLACE INTO request VALUES (?, ?)', id, number),
    requested(id) {
      const row = prepared(db, 'SELECT generation FROM request WHERE id = ?').get(id);
      return row === undefined ? undefined : Number(row['generation']);
    },
    generations,
    live,
    rebuild,
    begin: (scope, at) =>
      transaction(db, () => {
        const last = rebuild();
        if (last !== undefined && !isEnded(last.phase)) throw new Error('the last rebuild is still running');
        const number = Math.max(last?.generation ?? 0, ...generations().map((each) => each.number)) + 1;
        run('DELETE FROM difference');
        run(INSERT_GENERATION, number, scope.graph ? 'log' : 'copy', at);
        const phase: RebuildPhase = scope.graph ? 'replaying' : 'copying';
        run(INSERT_REBUILD, JSON.stringify(scope), number, phase, at, JSON.stringify(NO_PROGRESS));
        return rebuild() as Rebuild;
      }),
    enter: (id, phase, message) => void run(ENTER, phase, message ?? null, id),
    note: (id, message) => void run('UPDATE rebuild SET message = ? WHERE id = ?', message, id),
    advance: (id, progress) =>
      void run('UPDATE rebuild SET progress = ? WHERE id = ?', JSON.stringify(progress), id),
    want: (id, wanted, reason) => void run(WANT, wanted, reason ?? null, id),
    differences: () =>
      all<readonly [string, string, string | null, string | null]>(
        'SELECT "group", name, before, after FROM difference ORDER BY rowid',
      ).map(([group, name, before, after]) => ({
        group,
        name,
        before: before ?? undefined,
        after: after ?? undefined,
      })),
    noteDifferences: (differences) =>
      transaction(db, () => {
        run('DELETE FROM difference');
        for (const { group, name, before, after } of differences) {
          run('INSERT INTO difference VALUES (?, ?, ?, ?)', group, name, before ?? null, after ?? null);
        }
      }),
    noteIndices: (number, indices) =>
      void run('UPDATE generation SET indices = ? WHERE number = ?', JSON.stringify(indices), number),
    markSwitch: (number) => void run('UPDATE generation SET switching = (number IS ?)', number ?? null),
    switching() {
      const [row] = all<GenerationRow>(GENERATIONS).filter(([, , , , switching]) => switching !== 0);
      return row === undefined ? undefined : generationOf(row);
    },
    setLive: (number) =>
      transaction(db, () => {
        if (!generations().some((each) => each.number === number))
          throw new Error(`there is no generation ${number}`);
        run("UPDATE generation SET state = 'kept' WHERE state = 'live'");
        run("UPDATE generation SET state = 'live', indices = NULL WHERE number = ?", number);
        run('UPDATE generation SET switching = 0');
        const last = rebuild();
        if (last?.generation === number && !isEnded(last.phase)) {
          run("UPDATE rebuild SET phase = 'done', message = NULL WHERE id = ?", last.id);
        }
      }),
    forget: (number) =>
      transaction(db, () => {
        if (live().number === number) throw new Error(`generation ${number} serves`);
        run('DELETE FROM generation WHERE number = ?', number);
      }),
    close,
  };
}

function generationOf([number, state, source, indices]: GenerationRow): Generation {
  const set = indices === null ? undefined : (JSON.parse(indices) as IndexSet);
  return { number, state, source, indices: set };
}

function rebuildOf(row: RebuildRow): Rebuild {
  const [id, scope, generation, phase, wanted, startedAt, progress, message] = row;
  return {
    id,
    generation,
    phase,
    wanted,
    startedAt,
    scope: JSON.parse(scope) as RebuildScope,
    progress: JSON.parse(progress) as RebuildProgress,
    message: message ?? undefined,
  };
}
