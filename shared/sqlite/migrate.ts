import type { Database } from './database.ts';
import { transaction } from './transaction.ts';

/** A change of the schema: SQL for small changes, or steps for changes whose work grows with the file. */
export type Migration = string | MigrationSteps;

export type MigrationSteps = {
  /** Runs without a transaction before the steps, and again if the process ended in between. */
  readonly prepare?: (db: Database) => void;
  /** Runs in one transaction after the other until it returns `done`. It records its progress in the file. */
  readonly step: (db: Database) => 'again' | 'done';
};

/**
 * Migrates the file's schema from its `user_version` to `migrations.length`. Each migration runs in its own transaction, or in one for each
 * of its steps. Throws if the file is of a newer version than this program knows, or if a step fails. A failed step changes nothing.
 */
export function migrate(db: Database, migrations: readonly Migration[]): void {
  for (const _ of migrating(db, migrations));
}

/** Migrates like `migrate`, but yields after every transaction. */
export function* migrating(db: Database, migrations: readonly Migration[]): Generator<void> {
  for (;;) {
    const version = schemaVersion(db, migrations.length);
    const migration = migrations[version];
    if (migration === undefined) return;
    if (typeof migration !== 'string') migration.prepare?.(db);
    transaction(db, () => {
      // The version is read again under the write lock, because another process may have migrated in between.
      if (schemaVersion(db, migrations.length) !== version) return;
      if (typeof migration === 'string') db.exec(migration);
      else if (migration.step(db) === 'again') return;
      db.exec(`PRAGMA user_version = ${version + 1}`);
    });
    yield;
  }
}

/** Throws a message if a file that must not be changed has another schema version than this program writes. */
export function requireCurrentSchema(path: string, db: Database, known: number): void {
  if (schemaVersion(db, known) === known) return;
  throw new Error(
    `${path} has the format of an earlier release, and this command changes nothing: start a server, which upgrades it`,
  );
}

/** Returns the schema version of a file. Throws if it is newer than the `known` ones. */
export function schemaVersion(db: Database, known: number): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > known) {
    throw new Error(
      `its schema version is ${version}, this program knows versions up to ${known}: it was written by a newer version of Varve`,
    );
  }
  return version;
}
