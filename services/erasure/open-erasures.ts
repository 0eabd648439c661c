import { setTimeout as delay } from 'node:timers/promises';
import {
  type ErasureEvent,
  type ErasureOrdered,
  erasureStream,
} from '../../shared/erasure/erasure-events.ts';
import type { EventStore, ExpectedRevision } from '../../shared/event-store/event-store.ts';
import { evolveStream, watchStream } from '../../shared/event-store/watch-stream.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { retry } from '../../shared/retry.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import type { Author } from '../command/command.ts';
import { requestOrOperator } from '../command/current-author.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { readErasedUpTo, recordErasedUpTo } from './erased-up-to.ts';
import { noteErasures } from './erasure-file.ts';
import { type Erased, type ErasureOrder, evolveLedger, readLedger } from './erasure-ledger.ts';
import { planErasure, redactionsFor } from './plan-erasure.ts';

export type ErasuresOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Data directory of this process. */
  readonly data: string;
  readonly fleet: Pick<Fleet, 'epoch' | 'lead' | 'changed'>;
  /** False: another process of the data directory replaces the contents in the log, and this one waits for it. */
  readonly redacts: boolean;
  /** Deletes all rows of a document, if there are any. Rejects with NotLeading. */
  readonly remove: (order: ErasureOrder) => Promise<void>;
  /** Runs work while nothing else changes a document. */
  readonly hold: (type: Uid, documentId: string, work: () => Promise<boolean>) => Promise<boolean>;
  /** Returns whether the graph has rows of a document. */
  readonly exists: (type: Uid, documentId: string) => boolean;
  /** Resolves when the graph and the index have applied the log up to a position. */
  readonly applied: (position: bigint) => Promise<void>;
  /**
   * Removes the documents from pasts, deliveries and every file of the data directory but the log. Rejects with a message if that is not
   * possible now.
   */
  readonly clean: (erased: readonly Erased[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
};

/** Erasures of a process with a data directory. */
export type Erasures = Awaited<ReturnType<typeof openErasures>>;

const BACKOFF = { firstMs: 200, longestMs: 30_000 };
/** Milliseconds between two looks for a new lease, or for what another process has done. */
const LOOK_MS = 1_000;

/**
 * Carries orders of erasure out. The leader deletes the document and writes the proof. Then each process replaces the contents in the log,
 * unless another process has done so, and cleans its own files. What a killed process has left undone, the next start does: the record of
 * its data directory says how far it came.
 */
export async function openErasures(options: ErasuresOptions) {
  const { log, space, data, fleet, failed } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let done = readErasedUpTo(data);
  let resting = new AbortController();
  const watched = await watchStream(log, {
    stream: erasureStream(space),
    read: () => readLedger(log, space),
    evolve: (known, event) => evolveStream(known, event, evolveLedger),
    changed: () => resting.abort(),
  });
  const { state: ledger, moved } = watched;
  const report = (error: unknown) => signal.aborted || failed(error);
  // A process that cannot read the log any more ends by its projector.
  watched.done.catch(failed);
  const turn = async (): Promise<void> => {
    resting = new AbortController();
    const { signal: wake } = resting;
    const isOpen = ({ erasedAt }: ErasureOrder) => erasedAt === undefined;
    const open = fleet.epoch() === undefined ? [] : [...ledger().orders.values()].filter(isOpen);
    const failures: unknown[] = [];
    for (const order of open)
      try {
        await prove(options, order, ledger().revision);
        await moved.until(() => ledger().orders.get(order.id)?.erasedAt !== undefined, LOOK_MS);
      } catch (error) {
        // The others need not wait for an order that cannot be carried out.
        failures.push(error);
      }
    const due = ledger().erased.filter(({ position }) => position > done);
    if (due.length > 0) {
      await carryOut(options, due, signal);
      const before = done;
      done = due.at(-1)?.position ?? done;
      noteDone(before);
      recordErasedUpTo(data, done);
      moved.check();
    }
    if (failures.length > 0) {
      report(failures[0]);
      await untilAborted(fleet.changed(BACKOFF.longestMs), wake);
    } else if (open.length === 0 && due.length === 0) await untilAborted(fleet.changed(LOOK_MS), wake);
  };
  const isDone = (id: string) => (ledger().orders.get(id)?.erasedAt ?? done + 1n) <= done;
  const noteDone = (after: bigint) =>
    noteErasures(
      data,
      [...ledger().orders.values()].filter(({ id, erasedAt = 0n }) => isDone(id) && erasedAt > after),
    );
  noteDone(0n);
  const run = async (): Promise<void> => {
    while (!signal.aborted) await retry(turn, { backoff: BACKOFF, isJittered: true, signal, failed: report });
  };
  // Never rejects: failures are reported and repeated.
  const running = run();
  return {
    ledger,
    /** Returns whether an order was carried out in the log and in the files of this process. */
    isDone,
    /** Orders erasures, all or none. Resolves when they were carried out in the log and in the files of this process. Rejects with NotLeading. */
    async order(documents: readonly ErasureOrdered['data'][]): Promise<readonly ErasureOrder[]> {
      if (documents.length === 0) return [];
      const author = requestOrOperator();
      const ordered = documents.map((data) => ({ type: 'erasure-ordered', data }) as const);
      const { ids } = await append(options, ordered, { author, expected: 'any' });
      await moved.until(() => ids.every(isDone));
      return ids.map((id) => ledger().orders.get(id) as ErasureOrder);
    },
    async close(): Promise<void> {
      closing.abort();
      resting.abort();
      moved.fail(new Error('the server stops: the next start carries the erasure out'));
      await watched.close();
      await running;
    },
  };
}

/**
 * Deletes the document, and appends the proof. It names all events up to the deletion. `revision`: that of the ledger. If another process
 * has written to it, nothing is appended.
 */
async function prove(
  options: ErasuresOptions,
  order: ErasureOrder,
  revision: bigint | undefined,
): Promise<void> {
  const { remove, hold, exists, applied } = options;
  const { type, documentId } = order;
  const proved = () =>
    hold(type, documentId, async () => {
      // A write may have made the document again meanwhile.
      if (exists(type, documentId)) return false;
      const events = await planErasure(options, { order: order.id, type, documentId });
      const proof = { type: 'document-erased', data: { order: order.id, type, documentId, events } } as const;
      const { position } = await append(options, [proof], { author: PROCESS, expected: revision ?? 'none' });
      await applied(position);
      return true;
    });
  do await remove(order);
  while (!(await proved()));
}

async function carryOut(
  options: ErasuresOptions,
  erased: readonly Erased[],
  signal: AbortSignal,
): Promise<void> {
  const { log, applied, clean, redacts } = options;
  for (const each of erased) {
    if (redacts) await log.chain?.redact(await redactionsFor(options, each));
    // Rejects when the process stops.
    else while ((await redactionsFor(options, each)).length > 0) await delay(LOOK_MS, undefined, { signal });
  }
  await applied(erased.at(-1)?.position ?? 0n);
  await clean(erased);
}

const PROCESS: Author = { actor: { kind: 'process', id: 'erasures' } };

/** Appends under the lease. Rejects with NotLeading if another process has it, and if another process has written to the stream. */
async function append(
  { log, space, fleet }: ErasuresOptions,
  events: readonly ErasureEvent[],
  { author, expected }: { readonly author: Author; readonly expected: ExpectedRevision },
): Promise<{ readonly ids: readonly string[]; readonly position: bigint }> {
  const lead = fleet.lead();
  if (lead === undefined) throw new NotLeading();
  const at = new Date().toISOString();
  const metadata = { at, epoch: lead.epoch, ...author, via: 'erase' };
  const stored = events.map((event) => newEvent(event, metadata));
  const result = await log.append(erasureStream(space), expected, stored, lead.fence);
  if (result.kind !== 'appended') throw new NotLeading();
  return { ids: stored.map(({ id }) => id), position: result.position };
}
