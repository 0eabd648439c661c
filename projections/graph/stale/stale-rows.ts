import type { ParkedState } from '../../../shared/read-index/index-progress.ts';
import { WORLDS, type World } from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { GraphDatabase, SqlRow } from '../store/graph-database.ts';
import { versionOfKey, type WorldNumber, worldNumber, worldsOf } from '../store/row-keys.ts';
import { markOf, markTypes, UPSERT } from './mark-rows.ts';
import { hasParked, parkedRows } from './parked-rows.ts';

/** A row whose document in a world lacks changes: the first at or after `since`, the last at `position`. */
export type StaleRow = {
  readonly world: World;
  readonly key: number;
  readonly type: Uid;
  readonly since: number;
  readonly position: number;
};

/** Rows that are being written, by `staleNumber`, with the position that the document will show. */
export type RowsInFlight = ReadonlyMap<number, number>;

/** Identity of a document: keys are unique among all content types. */
export type DocumentKey = Pick<StaleRow, 'world' | 'key'>;

/** Order of a row among rows of the same urgency; equal for both worlds of a row. */
export type Turn = Pick<StaleRow, 'since' | 'key'>;

/** Names a row in a world. */
export function staleNumber({ world, key }: DocumentKey): number {
  return staleNumberIn(worldNumber(world), key);
}

/** Names a row in a world, by the world's number. */
export function staleNumberIn(world: WorldNumber, key: number): number {
  return key * 2 + world;
}

/** Changes of one batch: the first is at or after `since`, the last is at `position`. */
export type ChangeSpan = Pick<StaleRow, 'since' | 'position'>;

/**
 * Reason why a document is made: its own row changed, a write waits for this copy of a changed row, or no write waits. The documents of
 * each lane are written independently. A document with several reasons is in the first of these lanes.
 */
export type Lane = 'edits' | 'copies' | 'backlog';

const URGENCIES: Readonly<Record<Lane, number>> = { backlog: 0, copies: 1, edits: 2 };

/** The index of a document: those of one content type in one world. */
export type Target = Pick<StaleRow, 'type' | 'world'>;

/** Narrows the rows of a lane. `from`: in the backlog, every row before this one is taken. */
export type LaneRange = {
  readonly from?: Turn | undefined;
  /** Targets whose rows are left out. */
  readonly except?: readonly Target[] | undefined;
  /** Target of all rows. */
  readonly only?: Target | undefined;
};

type Refusal = Pick<ParkedState, 'position' | 'reason' | 'isHidden'>;

/** Record of stale documents in the graph's file, marked in the graph's own transactions. */
export type StaleRows = ReturnType<typeof openStaleRows>;

const MARK = `INSERT INTO stale (world, key, prompt, since, position, marked_at) VALUES (?, ?, ?, ?, ?, ?) ${UPSERT}`;
const STALE =
  'SELECT s.world, s.key, e.type, s.since, s.position FROM stale s JOIN entries e ON e.id = s.key / 4';
const IN_TURN = 'ORDER BY s.since, s.key LIMIT ?';
const NEXT = `${STALE} WHERE s.prompt = ? ${IN_TURN}`;
/** Takes a JSON list of targets, as numbers (see `targetNumber`). */
const NEXT_EXCEPT = `${STALE} WHERE s.prompt = ? AND e.type * 2 + s.world NOT IN (SELECT value FROM json_each(?)) ${IN_TURN}`;
const NEXT_OF = `${STALE} WHERE s.prompt = ? AND e.type * 2 + s.world = ? ${IN_TURN}`;
const NEXT_FROM = `${STALE} WHERE s.prompt = ? AND (s.since, s.key) >= (?, ?) ${IN_TURN}`;

/** Takes a world, a position and a JSON list of keys, because one statement for each document takes longer. */
const LISTED = 'key IN (SELECT value FROM json_each(?))';
const DELETE_SHOWN = `DELETE FROM stale WHERE world = ? AND position <= ? AND ${LISTED}`;
const SHORTEN_SHOWN = `UPDATE stale SET since = ? WHERE world = ? AND since < ? AND ${LISTED}`;
const UNPARK = `DELETE FROM parked WHERE world = ? AND ${LISTED}`;
const HIDE = 'UPDATE parked SET hidden = 1 WHERE world = ? AND key = ? AND hidden = 0';

/** Takes a JSON list of types, by number. */
const NOT_OF =
  'AND (SELECT type FROM entries WHERE id = stale.key / 4) NOT IN (SELECT value FROM json_each(?))';

const OLDEST = 'SELECT min(since) FROM stale WHERE prompt = ?';
const WAITING = 'SELECT count(*) FROM (SELECT 1 FROM stale WHERE prompt = ? LIMIT ?)';
/** Takes a JSON list of types, by number. */
const OLDEST_EXCEPT = `SELECT s.since FROM stale s JOIN entries e ON e.id = s.key / 4
  WHERE s.prompt = ? AND e.type NOT IN (SELECT value FROM json_each(?)) ORDER BY s.since LIMIT 1`;
/** Finds a row of a JSON list of types that is stale since a position of a range. */
const STALE_SINCE = `SELECT 1 FROM stale s JOIN entries e ON e.id = s.key / 4
  WHERE s.prompt >= 0 AND s.since BETWEEN ? AND ? AND e.type IN (SELECT value FROM json_each(?)) LIMIT 1`;

/** A write may have to wait if its position is between the first and the last change of a mark. */
const AWAITED = 'SELECT 1 FROM stale WHERE prompt > 0 AND since <= ? AND position >= ? LIMIT 1';

/** The numbers of content types in a graph's file. */
export type TypeNumbers = {
  readonly typeOf: (number: number) => Uid;
  readonly numberOf: (type: Uid) => number;
};

/** Opens the marks in a graph's file. */
export function openStaleRows(db: GraphDatabase, { typeOf, numberOf }: TypeNumbers) {
  const select = selectIn(db, numberOf);
  const readStale = ([world, key, type, since, position]: SqlRow): StaleRow => ({
    world: WORLDS[world as WorldNumber],
    key: key as number,
    type: typeOf(type as number),
    since: since as number,
    position: position as number,
  });
  return {
    mark(world: WorldNumber, key: number, lane: Lane, { since, position }: ChangeSpan): void {
      db.run(MARK, world, key, URGENCIES[lane], since, position, Date.now());
    },
    /** Marks the result of a query: row keys, with its parameter bound to the JSON list `values`. */
    markSelected(
      select: string,
      values: Iterable<number>,
      world: WorldNumber,
      { since, position }: ChangeSpan,
    ): void {
      db.run(markOf(select), world, since, position, Date.now(), JSON.stringify([...values]));
    },
    markTypes(types: readonly Uid[], span: ChangeSpan, isAnew = false): void {
      markTypes(db, types.map(numberOf), span, isAnew);
    },
    isMarked({ world, key }: DocumentKey): boolean {
      return db.get('SELECT 1 FROM stale WHERE world = ? AND key = ?', worldNumber(world), key) !== undefined;
    },
    hasMarks(types: readonly Uid[], { since, position }: ChangeSpan): boolean {
      return db.get(STALE_SINCE, since, position, JSON.stringify(types.map(numberOf))) !== undefined;
    },
    /** Yields each row in each of its worlds, stale or not. */
    *everyRow(): Iterable<StaleRow> {
      for (let from = 0; ; ) {
        const rows = db.all('SELECT key, type FROM rows WHERE key >= ? ORDER BY key LIMIT 1000', from);
        for (const [key, type] of rows as [number, number][]) {
          for (const world of worldsOf(versionOfKey(key))) {
            yield { world: WORLDS[world], key, type: typeOf(type), since: 0, position: 0 };
          }
        }
        const last = rows.at(-1);
        if (last === undefined) return;
        from = (last[0] as number) + 1;
      }
    },
    /**
     * Returns the rows of a lane, without those that are taken up to their last change. Rows that are stale for the longest time come first.
     */
    next(lane: Lane, limit: number, taken: RowsInFlight, range: LaneRange = {}): readonly StaleRow[] {
      const { from } = range;
      if (from !== undefined && lane === 'backlog') {
        // Without this condition, every call would first read all taken rows again.
        const { since, key } = from;
        const rows = db.all(NEXT_FROM, URGENCIES.backlog, since, key, limit + WORLDS.length);
        const behind = rows.filter((row) => !isTaken(taken, row));
        if (behind.length >= limit) return behind.slice(0, limit).map(readStale);
      }
      const found: StaleRow[] = [];
      for (const row of select(lane, limit + taken.size, range)) {
        if (isTaken(taken, row)) continue;
        found.push(readStale(row));
        if (found.length >= limit) return found;
      }
      return found;
    },
    /** Records that the documents show everything up to `position`. */
    done(rows: readonly DocumentKey[], position: number): void {
      const anyRefused = hasParked(db);
      for (const [world, name] of WORLDS.entries()) {
        const keys = rows.flatMap((row) => (row.world === name ? row.key : []));
        if (keys.length === 0) continue;
        const list = JSON.stringify(keys);
        if (db.run(DELETE_SHOWN, world, position, list) < keys.length)
          db.run(SHORTEN_SHOWN, position + 1, world, position + 1, list);
        if (anyRefused) db.run(UNPARK, world, list);
      }
    },
    /**
     * Records that another process has written all changes up to `position` to every document, and all marks of `since`. Documents of the
     * types in `without` are excepted.
     */
    forget(position: number, since: number, without: readonly Uid[]): void {
      const types = JSON.stringify(without.map(numberOf));
      db.run(`DELETE FROM stale WHERE since = ? AND position <= ? ${NOT_OF}`, since, position, types);
      if (db.get('SELECT 1 FROM stale WHERE since <= ? LIMIT 1', position) === undefined) return;
      db.run(`DELETE FROM stale WHERE position <= ? ${NOT_OF}`, position, types);
      db.run(`UPDATE stale SET since = ? WHERE since <= ? ${NOT_OF}`, position + 1, position, types);
    },
    /** Records that the index refused the document in its current state. The document waits for the next change of its row. */
    park({ world, key }: DocumentKey, { position, reason, isHidden }: Refusal): void {
      const number = worldNumber(world);
      const values = [number, key, position, reason, Number(isHidden === true)];
      db.run('INSERT OR REPLACE INTO parked VALUES (?, ?, ?, ?, ?)', ...values);
      db.run(DELETE_SHOWN, number, position, JSON.stringify([key]));
    },
    ...parkedRows(db, typeOf),
    hasParked: (): boolean => hasParked(db),
    /** Hides a refused document and schedules it again; returns whether it was refused and not hidden. No write waits for it. */
    retry(row: DocumentKey, position: number): boolean {
      if (!hide(db, row)) return false;
      // The mark is like one of a future change, so that the announced position of searches does not go down.
      db.run(MARK, worldNumber(row.world), row.key, 0, position + 1, position, Date.now());
      return true;
    },
    drop(row: DocumentKey): boolean {
      return hide(db, row);
    },
    dropAllParked(): void {
      db.run('DELETE FROM parked');
    },
    ...oldestRows(db, numberOf),
    /** Returns how many rows of a lane are stale, at most `most`. */
    waiting: (lane: Lane, most: number): number => db.get(WAITING, URGENCIES[lane], most)?.[0] as number,
    /** Returns whether a write at this position may have to wait for some document. */
    mayBeAwaited: (position: number): boolean => db.get(AWAITED, position, position) !== undefined,
    /** `oldest`: time at which the first of them was marked, in milliseconds since 1970. */
    count(): { readonly rows: number; readonly oldest: number | undefined } {
      const [rows, oldest] = db.get('SELECT count(*), min(marked_at) FROM stale') ?? [0, null];
      return { rows: rows as number, oldest: (oldest as number | null) ?? undefined };
    },
  };
}

/** Returns the position of the oldest rows, without those of types that are disregarded. */
function oldestRows(db: GraphDatabase, numberOf: TypeNumbers['numberOf']) {
  let unread: readonly Uid[] = [];
  let numbers: string | undefined;
  return {
    disregard(types: readonly Uid[]): void {
      unread = types;
      numbers = types.length === 0 ? undefined : JSON.stringify(types.map(numberOf));
    },
    disregarded: () => unread,
    /** Returns the position since which a row of the lane is stale; undefined if none is stale. */
    oldest(lane: Lane): number | undefined {
      const urgency = URGENCIES[lane];
      const found = numbers === undefined ? db.get(OLDEST, urgency) : db.get(OLDEST_EXCEPT, urgency, numbers);
      return (found?.[0] as number | null | undefined) ?? undefined;
    },
  };
}

/** Returns a function that reads the rows of a lane in order. */
function selectIn(db: GraphDatabase, numberOf: TypeNumbers['numberOf']) {
  const targetNumber = ({ type, world }: Target): number => numberOf(type) * 2 + worldNumber(world);
  return (lane: Lane, limit: number, { except = [], only }: LaneRange): readonly SqlRow[] => {
    const urgency = URGENCIES[lane];
    if (only !== undefined) return db.all(NEXT_OF, urgency, targetNumber(only), limit);
    if (except.length === 0) return db.all(NEXT, urgency, limit);
    return db.all(NEXT_EXCEPT, urgency, JSON.stringify(except.map(targetNumber)), limit);
  };
}

/** Hides a refused document, and leaves it as it is in the index; returns whether it was refused and not hidden. */
function hide(db: GraphDatabase, { world, key }: DocumentKey): boolean {
  return db.run(HIDE, worldNumber(world), key) > 0;
}

/** Most of the rows are taken, so this is checked before an object is made of a row. */
function isTaken(taken: RowsInFlight, [world, key, , , position]: SqlRow): boolean {
  const until = taken.get(staleNumberIn(world as WorldNumber, key as number));
  return until !== undefined && until >= (position as number);
}
