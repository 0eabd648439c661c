import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { defined } from '../../shared/defined.ts';
import { type MetaValues, metaValues } from '../../shared/sqlite/meta-values.ts';
import { type Database, openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';
import type { DeliveryState } from '../../shared/webhooks/delivery-state.ts';
import type { OpenDelivery, OpenReplay, WebhooksProgressed } from '../../shared/webhooks/webhook-events.ts';
import { DELIVERY_INDEX, DELIVERY_MIGRATIONS, DELIVERY_SQL } from './delivery-sql.ts';
import { forgetDocument } from './forget-document.ts';

/** Numbers of unfinished deliveries. `oldest`: when the first waiting delivery was made, in milliseconds since 1970. */
export type Backlog = {
  readonly waiting: number;
  readonly parked: number;
  readonly oldest: number | undefined;
};

/** A delivery before anything was sent. */
export type NewDelivery = Pick<OpenDelivery, 'hook' | 'event' | 'type' | 'documentId'> & {
  /** Equal for equal hook, position, event and document. */
  readonly id: string;
  readonly position: bigint;
  /** Exactly as it is sent. */
  readonly body: string;
};

/** A delivery in the store, with its last attempt. */
export type StoredDelivery = NewDelivery &
  Attempt & {
    /** Order of deliveries. It grows when the delivery is made due again after all others. */
    readonly seq: number;
    readonly attempts: number;
    /** Milliseconds since 1970. */
    readonly createdAt: number;
  };

/** A delivery that is not done, without its body. */
export type UnfinishedDelivery = Omit<NewDelivery, 'body'> & Pick<Attempt, 'state'>;

export type DeliveryFilter = {
  readonly hook?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** Position of the log. */
  readonly position?: string | undefined;
  readonly limit: number;
};

/** Deliveries of a hook that are not waiting: all, one, or the parked ones. */
export type ReplayFilter = {
  readonly hook: string;
  readonly id?: string;
  readonly parked?: boolean;
};

export type ReplayRange = {
  readonly hook: string;
  readonly from: bigint;
  readonly until: bigint;
  /** Milliseconds since 1970. */
  readonly before: number;
};

/** Ids of the deliveries that another process has not finished. `isCut`: more deliveries were parked than are listed. */
export type ListedDeliveries = { readonly open: ReadonlySet<string>; readonly isCut: boolean };

export type HistoryRequest = { readonly hook: string; readonly from: bigint };

/** Result of an attempt. */
export type Attempt = {
  readonly state: DeliveryState;
  /** Milliseconds since 1970. */
  readonly nextAt: number;
  /** HTTP status of the answer. */
  readonly status: number | null;
  readonly error: string | null;
};

/** The progress of another leader, and how far its stream was read. A file of an earlier release has no replays. */
export type KnownProgress = {
  readonly revision: bigint;
  readonly data: WebhooksProgressed['data'];
  readonly replays?: readonly OpenReplay[] | undefined;
};

/** Deliveries and the checkpoint, in one file and changed in one transaction. Several processes may have the file open. */
export type DeliveryStore = ReturnType<typeof deliveryStore>;

export const WEBHOOKS_FILE = 'webhooks.db';
/** Tables that every version of the file has. */
export const WEBHOOKS_TABLES = ['meta', 'deliveries'];

const DATABASE = {
  durability: 'normal',
  migrations: DELIVERY_MIGRATIONS,
  afterMigrations: DELIVERY_INDEX,
} as const;

/**
 * Opens `webhooks.db` in a folder, and creates it with a new id if it is missing. One process writes it. `waitMs`: time that a statement
 * waits for a lock, as in `openDatabase`.
 */
export function openDeliveryStore(folder: string, waitMs?: number): DeliveryStore {
  const db = openDatabase(join(folder, WEBHOOKS_FILE), { ...DATABASE, ...defined({ waitMs }) });
  return deliveryStore(db, () => db.close());
}

/** Creates a store on an open file. */
export function deliveryStore(db: Database, close: () => void) {
  const meta = metaValues(db);
  return { ...progressIn(db, meta), ...queueIn(db, meta), close };
}

/** Progress of the leader, and requests to it. */
function progressIn(db: Database, meta: MetaValues) {
  return {
    /** Names the file. */
    id: idOf(meta),
    checkpoint: () => meta.get('checkpoint', BigInt),
    /** Epoch of the last term in which the server of the file delivered; undefined: it never did. */
    term: () => meta.get('term', Number),
    beginTerm: (epoch: number) => meta.set('term', String(epoch)),
    progress: () => meta.get('progress', parseProgress),
    keepProgress({ revision, ...rest }: KnownProgress): void {
      meta.set('progress', JSON.stringify({ ...rest, revision: String(revision) }));
    },
    /** End of a pause that the receiver requested, in milliseconds since 1970; undefined: no pause. */
    pausedUntil: (hook: string) => meta.get(pauseOf(hook), Number),
    /** Sets the end of a pause. undefined: the pause is over. */
    pause(hook: string, until: number | undefined): void {
      if (until === undefined) meta.remove(pauseOf(hook));
      else meta.set(pauseOf(hook), String(until));
    },
    /**
     * Asks the leader to send deliveries again, in order, and to make deliveries again that are no longer stored. A request that is there
     * already has no effect.
     */
    requestHistory({ hook, from }: HistoryRequest): void {
      prepared(db, DELIVERY_SQL.request).run(hook, String(from));
    },
    historyRequests: (): readonly HistoryRequest[] =>
      prepared(db, 'SELECT hook, position FROM history_requests')
        .all()
        .map(({ hook, position }) => ({ hook: String(hook), from: BigInt(String(position)) })),
    /** Removes a request that is done. */
    forgetHistory({ hook, from }: HistoryRequest): void {
      prepared(db, 'DELETE FROM history_requests WHERE hook = ? AND position = ?').run(hook, String(from));
    },
  };
}

type SqlValue = string | number | null;
type ReadDelivery = Pick<StoredDelivery, 'id' | 'seq'>;

function listed({ hook, state, position, limit }: DeliveryFilter): [string, ...SqlValue[]] {
  const values = [hook ?? null, hook ?? null, state ?? null, state ?? null, limit];
  return position === undefined ? [DELIVERY_SQL.list, ...values] : [DELIVERY_SQL.listAt, position, ...values];
}

/** The deliveries. Times are in milliseconds since 1970. */
function queueIn(db: Database, meta: MetaValues) {
  const run = (sql: string, ...values: SqlValue[]) => Number(prepared(db, sql).run(...values).changes);
  const all = (sql: string, ...values: SqlValue[]) =>
    prepared(db, sql)
      .all(...values)
      .map(readDelivery);
  return {
    /** Adds deliveries that are not there yet, and moves the checkpoint. */
    add(deliveries: readonly NewDelivery[], checkpoint: bigint | undefined, now: number): void {
      transaction(db, () => {
        for (const delivery of deliveries) insert(db, delivery, now);
        if (checkpoint !== undefined) meta.set('checkpoint', String(checkpoint));
      });
    },
    /** Makes deliveries due again after all others, in this order. Stored deliveries keep their bodies. */
    addAgain(deliveries: readonly NewDelivery[], now: number): void {
      transaction(db, () => {
        for (const delivery of deliveries)
          if (!insert(db, delivery, now)) run(DELIVERY_SQL.again, now, now, delivery.id);
      });
    },
    /** The first delivery of each document, if it is due, in order. */
    due: (hook: string, now: number, limit: number) =>
      prepared(db, DELIVERY_SQL.due).all(hook, now, limit) as ReadDelivery[],
    /** Stores the result of an attempt, unless the delivery was made due again after it was read. */
    attempted({ id, seq }: ReadDelivery, { state, nextAt, status, error }: Attempt): void {
      run(DELIVERY_SQL.attempted, state, nextAt, status, error, id, seq);
    },
    /** Time of the newest delivery; undefined: there is none. */
    newestAt: () => (prepared(db, DELIVERY_SQL.newest).get()?.['at'] as number | null) ?? undefined,
    /** Moves the times of all waiting deliveries back, because the clock was set back. Otherwise they would wait longer. */
    setBack(ms: number): void {
      transaction(db, () => {
        run(DELIVERY_SQL.setBack, ms, ms);
        run(DELIVERY_SQL.setBackPauses, ms);
      });
    },
    /** Parks failing deliveries that have held back later ones of their document since before `before`. */
    park: (before: number, now: number) => run(DELIVERY_SQL.park, now, before),
    /** Deliveries that are not done. */
    open: () => prepared(db, DELIVERY_SQL.open).all().map(readUnfinished),
    /** Marks unfinished deliveries up to a position as done elsewhere, unless they are listed. */
    settle: (upTo: bigint, listed: ListedDeliveries) => settle(db, upTo, listed),
    find: (id: string) => all(DELIVERY_SQL.find, id)[0],
    /** The newest first. */
    list: (filter: DeliveryFilter): readonly StoredDelivery[] => all(...listed(filter)),
    /** Makes deliveries due again. Returns how many. */
    replay: ({ hook, id, parked = false }: ReplayFilter, now: number) =>
      run(DELIVERY_SQL.replay, now, now, hook, id ?? null, id ?? null, Number(parked)),
    /** Makes deliveries between two positions due again, if they were made (or made again) before a time. */
    replayOthers: ({ hook, from, until, before }: ReplayRange, now: number) =>
      void run(DELIVERY_SQL.others, now, now, hook, before, String(from), String(until)),
    /** Number of stored deliveries from a position on. */
    countSince: (hook: string, from: bigint) =>
      Number(prepared(db, DELIVERY_SQL.since).get(hook, String(from))?.['n']),
    /** Counts the deliveries of all webhooks that are not done. */
    backlog: () => countOpen(db),
    /** Counts the deliveries of a webhook by state. */
    count: (hook: string) => countStates(db, hook),
    forgetDocument: (documentId: string) => forgetDocument(db, documentId),
    /** Removes deliveries of removed hooks, and deliveries that were made before a time. */
    prune: (before: number, hooks: ReadonlySet<string>) => prune(db, before, hooks),
  };
}

/** Reads the id before it makes one: a start does not wait for the lock of a file that has its id. */
function idOf(meta: MetaValues): string {
  const id = meta.get('id', String);
  if (id !== undefined) return id;
  const made = randomUUID();
  meta.set('id', made);
  return made;
}

function parseProgress(text: string): KnownProgress {
  const { revision, ...rest } = JSON.parse(text);
  return { ...rest, revision: BigInt(revision) };
}

function pauseOf(hook: string): string {
  return `pause ${hook}`;
}

/** Returns false if the delivery is already stored. */
function insert(db: Database, delivery: NewDelivery, now: number): boolean {
  const { id, hook, position, event, type, documentId, body } = delivery;
  const named = [id, hook, String(position), event, type, documentId, body];
  return Number(prepared(db, DELIVERY_SQL.add).run(...named, now, now).changes) > 0;
}

function settle(db: Database, upTo: bigint, { open, isCut }: ListedDeliveries): void {
  const states = isCut ? "'waiting'" : "'waiting', 'parked'";
  transaction(db, () => {
    const waiting = prepared(db, `SELECT id, position FROM deliveries WHERE state IN (${states})`).all();
    for (const { id, position } of waiting) {
      if (BigInt(String(position)) <= upTo && !open.has(String(id)))
        prepared(db, `UPDATE deliveries SET state = 'elsewhere' WHERE id = ?`).run(String(id));
    }
  });
}

function prune(db: Database, before: number, hooks: ReadonlySet<string>): void {
  prepared(db, 'DELETE FROM deliveries WHERE created_at < ?').run(before);
  for (const { hook } of prepared(db, 'SELECT DISTINCT hook FROM deliveries').all()) {
    if (hooks.has(String(hook))) continue;
    prepared(db, 'DELETE FROM deliveries WHERE hook = ?').run(String(hook));
    metaValues(db).remove(pauseOf(String(hook)));
  }
}

function readUnfinished(row: Readonly<Record<string, unknown>>): UnfinishedDelivery {
  return { ...row, position: BigInt(String(row['position'])) } as UnfinishedDelivery;
}

function readDelivery(row: Readonly<Record<string, unknown>>): StoredDelivery {
  return readUnfinished(row) as StoredDelivery;
}

function countStates(db: Database, hook: string): Record<DeliveryState, number> {
  const counts = { waiting: 0, delivered: 0, parked: 0, elsewhere: 0 };
  const rows = prepared(db, 'SELECT state, count(*) AS n FROM deliveries WHERE hook = ? GROUP BY state').all(
    hook,
  );
  for (const { state, n } of rows) counts[state as DeliveryState] = Number(n);
  return counts;
}

function countOpen(db: Database): Backlog {
  const rows = prepared(db, DELIVERY_SQL.counts).all();
  const of = (state: DeliveryState) => Number(rows.find((row) => row['state'] === state)?.['n'] ?? 0);
  const oldest = prepared(db, DELIVERY_SQL.oldest).get()?.['at'];
  return {
    waiting: of('waiting'),
    parked: of('parked'),
    oldest: typeof oldest === 'number' ? oldest : undefined,
  };
}
