import { existsSync, rmSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../../sqlite/database.ts';
import { type FileLock, tryLockFile } from '../../sqlite/lock-file.ts';
import { type LookedAt, lookAtDatabase } from '../../sqlite/look-at-database.ts';
import { migrate, migrating, schemaVersion } from '../../sqlite/migrate.ts';
import { cannotOpen, connectDatabase } from '../../sqlite/open-database.ts';
import { explainDamage } from './damaged-log.ts';
import { LOG_MIGRATIONS } from './log-schema.ts';

const OPTIONS = { durability: 'full' } as const;

/** Milliseconds between checks of the lock of an upgrade in another process. */
const LOOK_MS = 50;
/** The longest time for which SQLite waits for a lock: 24 days. */
const FOREVER_MS = 2 ** 31 - 1;

/** Opens the log's file. Creates or upgrades it if necessary. An upgrade blocks the thread: see `upgradeLog`. */
export function openLog(path: string): Database {
  const db = connectLog(path);
  try {
    const lock = isOlder(db) ? tryLockFile(lockFile(path), FOREVER_MS) : undefined;
    try {
      migrate(db, LOG_MIGRATIONS);
      if (lock !== undefined) rmSync(lockFile(path), { force: true });
    } finally {
      lock?.release();
    }
    return db;
  } catch (error) {
    db.close();
    throw explainDamage(path, cannotOpen(path, error as Error));
  }
}

/** Opens the log's file for reading, and changes nothing. Throws a message if the file has the format of an earlier release. */
export function lookAtLog(path: string, seesLater: boolean): LookedAt {
  try {
    const looked = lookAtDatabase(path, seesLater);
    if (!isOlder(looked.connection)) return looked;
    looked.connection.close();
  } catch (error) {
    throw explainDamage(path, error);
  }
  throw new Error(
    `${path} has the format of an earlier release, and this command changes nothing: start a server, which upgrades the log`,
  );
}

/**
 * Upgrades the log of an earlier release in bounded transactions, between which the event loop runs. Continues an upgrade that was
 * interrupted. One process upgrades, and the others wait. Does nothing if there is no log, or a current one.
 */
export async function upgradeLog(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const db = connectLog(path);
  try {
    if (!isOlder(db)) return;
    const lock = await lockUpgrade(path);
    try {
      for (const _ of migrating(db, LOG_MIGRATIONS)) await nextTurn();
      // The lock file is not needed any more: a process that waits for the lock will find the upgraded log.
      rmSync(lockFile(path), { force: true });
    } finally {
      lock.release();
    }
  } catch (error) {
    throw explainDamage(path, cannotOpen(path, error as Error));
  } finally {
    db.close();
  }
}

function connectLog(path: string): Database {
  try {
    const db = connectDatabase(path, OPTIONS);
    // Overwrites events that move when the file gets its second level, which an erasure would not find. It costs no writes.
    db.exec('PRAGMA secure_delete = FAST');
    return db;
  } catch (error) {
    throw explainDamage(path, error);
  }
}

function isOlder(db: Database): boolean {
  const version = schemaVersion(db, LOG_MIGRATIONS.length);
  return version > 0 && version < LOG_MIGRATIONS.length;
}

function lockFile(path: string): string {
  return `${path}-upgrade`;
}

async function lockUpgrade(path: string): Promise<FileLock> {
  for (;;) {
    const lock = tryLockFile(lockFile(path));
    if (lock !== undefined) return lock;
    await delay(LOOK_MS);
  }
}
