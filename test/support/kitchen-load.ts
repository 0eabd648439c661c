import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { askKitchen, type Dish, type KitchenQuery } from './kitchen.ts';

/** An answer, and the positions of the log between which it was given. */
export type Recorded = {
  readonly query: KitchenQuery;
  /** Position of a write up to which every write was answered before the query was sent: an answer waits for no other document. */
  readonly from: bigint;
  /** Position of the log's end when the answer had arrived. */
  readonly to: bigint;
  readonly answer: readonly Dish[];
};

export type KitchenLoad = {
  /** Failed requests. There must be none. */
  readonly failures: readonly string[];
  readonly writes: () => number;
  /** Stops, and resolves to the answers after the requests in flight. */
  stop(): Promise<readonly Recorded[]>;
};

const MOST_DOCUMENTS = 40;
const LETTERS = 'abcde';

export type LoadOptions = {
  readonly writers: number;
  readonly readers: number;
  /** Other processes from which readers read as well. */
  readonly readFrom?: readonly string[];
  /** Pause of each writer and reader between two requests. Default: none. */
  readonly pauseMs?: number;
};

/** Starts writers and readers that run until they are stopped. `log`: the server's log, opened here. */
export function startKitchenLoad(
  url: string,
  log: EventStore,
  { writers, readers, readFrom = [], pauseMs = 0 }: LoadOptions,
): KitchenLoad {
  const urls = [url, ...readFrom];
  const ids: Record<'dishs' | 'cooks', string[]> = { dishs: [], cooks: [] };
  const failures: string[] = [];
  const recorded: (Omit<Recorded, 'from'> & Asked)[] = [];
  const answered: bigint[] = [];
  const open = new Set<OpenWrite>();
  let stopped = false;
  const loop = async (work: (turn: number) => Promise<void>) => {
    for (let turn = 0; !stopped; turn++) {
      await work(turn).catch((error: unknown) => {
        const { message, cause } = error as Error;
        failures.push(cause instanceof Error ? `${message}: ${cause.message}` : message);
      });
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  const write = async (turn: number) => {
    const collection = Math.random() < 0.3 ? 'cooks' : 'dishs';
    const sent: OpenWrite = { position: undefined };
    open.add(sent);
    try {
      sent.position = await writeOnce(url, ids, collection, turn);
      if (sent.position !== undefined) answered.push(sent.position);
    } finally {
      open.delete(sent);
    }
  };
  const read = async (turn: number) => {
    const world = turn % 2 === 0 ? 'published' : 'draft';
    const letter = LETTERS[Math.floor(Math.random() * LETTERS.length)] as string;
    const query: KitchenQuery = turn % 3 === 0 ? { world } : { world, cookContains: letter };
    const asked = { answered: answered.length, open: [...open] };
    const answer = await askKitchen(urls[turn % urls.length] as string, query);
    recorded.push({ query, answer, to: await log.lastPosition(), ...asked });
  };
  const running = [
    ...Array.from({ length: writers }, () => loop(write)),
    ...Array.from({ length: readers }, () => loop(read)),
  ];
  return {
    failures,
    writes: () => answered.length,
    async stop() {
      stopped = true;
      await Promise.all(running);
      return recorded.map(({ answered: count, open: unanswered, ...each }) => ({
        ...each,
        from: answeredUpTo(answered.slice(0, count), unanswered),
      }));
    },
  };
}

/** A write without an answer. `position`: that of its last event, once it is answered; undefined if it was refused. */
type OpenWrite = { position: bigint | undefined };

/** Number of the writes that were answered before a query was sent, and those that were not. */
type Asked = { readonly answered: number; readonly open: readonly OpenWrite[] };

/** Returns the last of these positions that is before all open writes. */
function answeredUpTo(answered: readonly bigint[], open: readonly OpenWrite[]): bigint {
  const isBefore = (position: bigint) =>
    open.every((write) => write.position === undefined || position < write.position);
  return answered.reduce((last, position) => (position > last && isBefore(position) ? position : last), 0n);
}

/**
 * Writes a document once, until searches show it. Only one writer writes a document at a time. Resolves with the position of the write;
 * undefined if it is refused.
 */
async function writeOnce(
  url: string,
  ids: Record<'dishs' | 'cooks', string[]>,
  collection: 'dishs' | 'cooks',
  turn: number,
): Promise<bigint | undefined> {
  const own = ids[collection];
  const documentId =
    own.length < MOST_DOCUMENTS / 2 ? undefined : own.splice(Math.floor(Math.random() * own.length), 1)[0];
  const path = `${url}/api/${collection}${documentId === undefined ? '' : `/${documentId}`}`;
  const removes = documentId !== undefined && turn % 9 === 8;
  const letters = Array.from({ length: 2 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join(
    '',
  );
  const cook = Math.random() < 0.2 ? null : (ids.cooks[Math.floor(Math.random() * ids.cooks.length)] ?? null);
  const data = { name: `${letters} ${turn}`, ...(collection === 'dishs' ? { cook } : {}) };
  const response = await fetch(`${path}?status=${turn % 3 === 0 ? 'draft' : 'published'}`, {
    method: removes ? 'DELETE' : documentId === undefined ? 'POST' : 'PUT',
    ...(removes ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
  });
  const text = await response.text();
  // Another writer may have removed the cook meanwhile. Varve correctly refuses this write.
  const isRefused = response.status === 400 && text.includes('do not exist');
  if (!response.ok && !isRefused) throw new Error(`${collection}: ${response.status} ${text}`);
  if (!removes && documentId !== undefined) own.push(documentId);
  if (isRefused) return undefined;
  if (documentId === undefined)
    own.push((JSON.parse(text) as { data: { documentId: string } }).data.documentId);
  const position = response.headers.get('varve-position') ?? '';
  // 202: the write is stored, and searches do not show it yet.
  if (response.status === 202) await awaitShown(`${url}/api/${collection}`, position);
  return BigInt(position);
}

async function awaitShown(list: string, position: string): Promise<void> {
  for (;;) {
    const response = await fetch(list, { headers: { 'varve-min-position': position } });
    const text = await response.text();
    if (response.ok) return;
    if (response.status !== 503) throw new Error(`${list}: ${response.status} ${text}`);
  }
}
