import { parentPort, workerData } from 'node:worker_threads';
import { connectDatabase } from './open-database.ts';
import type { ScrubAnswer } from './scrub-file.ts';

/** Main module of the thread of `scrubFile`. */
function scrub(path: string): ScrubAnswer {
  const db = connectDatabase(path, { durability: 'normal' });
  try {
    db.exec('PRAGMA secure_delete = ON');
    db.exec('VACUUM');
    const [result] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return { failure: Number(result?.['busy']) === 0 ? undefined : 'another process reads it' };
  } catch (error) {
    return { failure: (error as Error).message };
  } finally {
    db.close();
  }
}

parentPort?.postMessage(scrub(String(workerData)));
