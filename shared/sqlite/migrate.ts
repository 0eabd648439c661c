import type { Database } from './database.ts';
import { transaction } from './transaction.ts';

/**
 * Brings the file's schema from its `user_version` to `migrations.length`, each step in a transaction of its own.
 * Throws when the file is of a newer version than this program knows, or a step fails (which then left nothing behind).
 */
export const migrate = (db: Database, migrations: readonly string[]): void => {
  while (schemaVersion(db, migrations.length) < migrations.length) {
    transaction(db, () => {
      // Read again under the write lock: another process may have migrated meanwhile.
      const version = schemaVersion(db, migrations.length);
      const step = migrations[version];
      if (step === undefined) return;
      db.exec(step);
      db.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
};

const schemaVersion = (db: Database, known: number): number => {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > known) {
    throw new Error(
      `its schema version is ${version}, this program knows versions up to ${known}: it was written by a newer version of Varve`,
    );
  }
  return version;
};
