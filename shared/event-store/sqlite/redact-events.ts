import type { Database } from '../../sqlite/database.ts';
import { prepared } from '../../sqlite/prepared.ts';
import { transaction } from '../../sqlite/transaction.ts';
import { addDigest, checkStoredText, digestedMetadata, isErased } from '../event-digest.ts';
import type { Redaction } from '../event-store.ts';

const FIND = 'SELECT id, type, data, metadata FROM event WHERE stream = ? AND revision = ?';
const REPLACE = 'UPDATE event SET id = ?, data = ?, metadata = ? WHERE stream = ? AND revision = ?';

/** Replaces contents (see HashChain.redact). Throws if an event is missing, or if the write-ahead log cannot be emptied. */
export function redactEvents(db: Database, redactions: readonly Redaction[]): void {
  db.exec('PRAGMA secure_delete = ON');
  transaction(db, () => {
    for (const redaction of redactions) redact(db, redaction);
  });
  // The write-ahead log has the pages with the earlier content.
  if (!emptyWriteAheadLog(db))
    throw new Error('another process reads the event log: its write-ahead log still has what was erased');
}

/** Milliseconds for which the thread waits for readers of the file at most. */
const WAIT_MS = 50;

/** Returns false if a reader is in the way. */
function emptyWriteAheadLog(db: Database): boolean {
  const usual = Number(db.prepare('PRAGMA busy_timeout').get()?.['timeout']);
  db.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
  try {
    return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${usual}`);
  }
}

function redact(db: Database, { stream, revision, id, data, metadata }: Redaction): void {
  const found = prepared(db, FIND).get(stream, revision);
  if (found === undefined) throw new Error(`the event log has no revision ${revision} of ${stream}`);
  const text = (name: string) => String(found[name]);
  const before = { id: text('id'), type: text('type'), data: text('data'), metadata: text('metadata') };
  if (isErased(before.metadata)) return;
  const { digest } = checkStoredText(before);
  const replace = (...texts: readonly [id: string, data: string, metadata: string]) =>
    prepared(db, REPLACE).run(...texts, stream, revision);
  // SQLite writes a text of equal length in its place.
  replace(blank(before.id), blank(before.data), blank(before.metadata));
  replace(id, JSON.stringify(data), addDigest(digestedMetadata(metadata), digest));
}

/** Returns spaces that take as many bytes as a text. */
function blank(text: string): string {
  return ' '.repeat(Buffer.byteLength(text));
}
