export const DELIVERY_MIGRATIONS = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- position: of the first event. body: exactly as it is sent. Times: milliseconds since 1970. replayed: how often.
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hook TEXT NOT NULL,
    position TEXT NOT NULL,
    event TEXT NOT NULL,
    type TEXT NOT NULL,
    document_id TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    status INTEGER,
    error TEXT
  );
  CREATE INDEX waiting_deliveries ON deliveries (hook, type, document_id, seq) WHERE state = 'waiting';
  CREATE INDEX deliveries_by_state ON deliveries (state, hook, next_at);
  CREATE INDEX deliveries_by_time ON deliveries (created_at);

  -- Replays of history that the leader has to make. position: of the first event.
  CREATE TABLE history_requests (hook TEXT NOT NULL, position TEXT NOT NULL);
  `,
];

/**
 * Adds two indices, and removes one of earlier states of the file. `deliveries_without_body` has the columns behind the body: a body may have
 * thousands of pages, which SQLite reads to reach them. It is not a migration, because an earlier release opens the file afterwards, too.
 */
export const DELIVERY_INDEX = `
  DROP INDEX IF EXISTS waiting_deliveries;
  CREATE INDEX IF NOT EXISTS deliveries_without_body
    ON deliveries (hook, type, document_id, seq, attempts, next_at, created_at) WHERE state = 'waiting';
  CREATE INDEX IF NOT EXISTS deliveries_by_position ON deliveries (position);
  `;

const COLUMNS =
  'id, hook, position, event, type, document_id, body, state, attempts, created_at, next_at, status, error';
/** The columns are exactly the members of a stored delivery. */
const SELECT = `SELECT seq, id, hook, position, event, type, document_id AS documentId, body, state, attempts,
  created_at AS createdAt, next_at AS nextAt, status, error FROM deliveries`;
/** Waiting deliveries of the same document and webhook as `one`, under the name `other`. */
function ofDocument(one: string, other: string): string {
  return `FROM deliveries AS ${other} WHERE ${other}.state = 'waiting'
    AND ${other}.hook = ${one}.hook AND ${other}.type = ${one}.type AND ${other}.document_id = ${one}.document_id`;
}
const DUE_AGAIN = "state = 'waiting', attempts = 0, next_at = ?, created_at = ?";
const POSITION = 'CAST(position AS INTEGER)';

/** Statements of the store. */
export const DELIVERY_SQL = {
  add: `INSERT INTO deliveries (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', 0, ?, ?, NULL, NULL)
    ON CONFLICT (id) DO NOTHING`,
  // With min(), SQLite takes the other columns from the row that has the minimum: here the first delivery of a document.
  due: `SELECT id, seq FROM (
    SELECT min(seq) AS first, next_at FROM deliveries INDEXED BY deliveries_without_body WHERE state = 'waiting' AND hook = ?
      GROUP BY type, document_id HAVING next_at <= ? ORDER BY first LIMIT ?)
    JOIN deliveries ON seq = first ORDER BY first`,
  attempted:
    'UPDATE deliveries SET state = ?, attempts = attempts + 1, next_at = ?, status = ?, error = ? WHERE id = ? AND seq = ?',
  park: `UPDATE deliveries SET state = 'parked' WHERE seq IN (
    SELECT seq FROM deliveries AS held INDEXED BY deliveries_without_body WHERE state = 'waiting' AND attempts > 0 AND next_at > ?
      AND EXISTS (SELECT 1 ${ofDocument('held', 'later')} AND later.seq > held.seq AND later.created_at <= ?))`,
  open: `SELECT id, hook, position, event, type, document_id AS documentId, state FROM deliveries
    WHERE state IN ('waiting', 'parked') ORDER BY seq`,
  find: `${SELECT} WHERE id = ?`,
  request: `INSERT INTO history_requests SELECT ?1, ?2 WHERE NOT EXISTS
    (SELECT 1 FROM history_requests WHERE hook = ?1 AND position = ?2)`,
  listAt: `${SELECT} WHERE position = ? AND (? IS NULL OR hook = ?) AND (? IS NULL OR state = ?) ORDER BY seq DESC LIMIT ?`,
  list: `${SELECT} WHERE (? IS NULL OR hook = ?) AND (? IS NULL OR state = ?) ORDER BY seq DESC LIMIT ?`,
  replay: `UPDATE deliveries SET ${DUE_AGAIN}
    WHERE state <> 'waiting' AND hook = ? AND (? IS NULL OR id = ?) AND (? = 0 OR state = 'parked')`,
  again: `UPDATE deliveries SET seq = (SELECT max(seq) + 1 FROM deliveries), ${DUE_AGAIN} WHERE id = ?`,
  others: `UPDATE deliveries SET ${DUE_AGAIN}
    WHERE state <> 'waiting' AND hook = ? AND created_at < ? AND ${POSITION} BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)`,
  counts: `SELECT state, count(*) AS n FROM deliveries WHERE state IN ('waiting', 'parked') GROUP BY state`,
  oldest: `SELECT min(created_at) AS at FROM deliveries INDEXED BY deliveries_without_body WHERE state = 'waiting'`,
  newest: 'SELECT max(created_at) AS at FROM deliveries',
  setBack: "UPDATE deliveries SET next_at = next_at - ?, created_at = created_at - ? WHERE state = 'waiting'",
  setBackPauses: "UPDATE meta SET value = CAST(value AS INTEGER) - ? WHERE name LIKE 'pause %'",
  since: `SELECT count(*) AS n FROM deliveries WHERE hook = ? AND ${POSITION} >= CAST(? AS INTEGER)`,
} as const;
