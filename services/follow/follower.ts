import type { Backoff } from '../../shared/backoff.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { retry } from '../../shared/retry.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { FirstCopy } from './first-copy.ts';
import { createFollowState, type FollowState } from './follow-state.ts';
import { createPendingDocuments } from './pending-documents.ts';
import { createRequestPace, type ReconcileOptions, type Reconciliation, sleep } from './reconcile.ts';
import { SourceRefused } from './source.ts';
import type { DocumentWriter } from './write-documents.ts';

export type FollowerOptions = {
  readonly writer: DocumentWriter;
  readonly reconciliation: (of: Pick<ReconcileOptions, 'sync' | 'refused' | 'kept'>) => Reconciliation;
  /** Runs once at the start of each term, for example an import. Rejects with a sentence if Strapi cannot be followed. */
  readonly begin: () => Promise<void>;
  /** First copy. The first comparison makes it, and is not throttled until it is done. */
  readonly firstCopy: Pick<FirstCopy, 'phase' | 'enter'>;
  readonly requests: () => number;
  /** Returns whether this process is the leader. */
  readonly isLeading: () => boolean;
  readonly leadChanged: (ms: number) => Promise<unknown>;
  readonly intervalMs: number;
  /** Requests per second of a full comparison. */
  readonly rate: number;
  readonly report: (what: FollowReport) => void;
};

export type FollowReport =
  | { readonly kind: 'following' }
  | {
      readonly kind: 'compared';
      readonly seconds: number;
      readonly requests: number;
      readonly events: number;
    }
  | { readonly kind: 'trouble'; readonly error: Error; readonly retryInMs: number }
  | { readonly kind: 'kept'; readonly rows: number }
  | { readonly kind: 'refused'; readonly type: Uid; readonly error: Error };

export type Follower = {
  /** Reads documents again. Resolves when reads of this process show them. Rejects with NotLeading if it is not leader. */
  sync(names: readonly DocumentName[]): Promise<void>;
  /** Looks for changes now. */
  look(): void;
  readonly state: FollowState;
  close(): Promise<void>;
};

const BATCH = 200;
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 };
const LEAD_LOOK_MS = 1_000;

/** Follows a source while this process is the leader: it uses hints, looks for new rows, and compares all rows. */
export function createFollower(options: FollowerOptions): Follower {
  const closing = new AbortController();
  const pending = createPendingDocuments();
  const state = createFollowState({
    pending: pending.size,
    stuck: options.writer.stuck,
    requests: options.requests,
  });
  let looked = Promise.withResolvers<void>();
  /** Aborted when this process is no longer the leader, or ends. */
  let term = AbortSignal.abort();

  /** Reads documents within a term. Rejects when the term ends, as no later work of this process would read them. */
  const syncWithin = async (signal: AbortSignal, names: readonly DocumentName[]): Promise<void> => {
    if (names.length === 0) return;
    if (signal.aborted) throw new NotLeading();
    await pending.add(names);
  };
  const refused = (type: Uid, error: SourceRefused | undefined): void => {
    if (error !== undefined && state.refuse(type, error.message))
      options.report({ kind: 'refused', type, error });
    if (error === undefined) state.accept(type);
  };
  const kept = (rows: number): void => {
    if (state.keep(rows)) options.report({ kind: 'kept', rows });
  };

  /** Repeats `work` until it succeeds, the term ends, or the source refuses it. */
  const persist = async (signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
    const failed = (error: unknown, retryInMs: number) => {
      if (error instanceof SourceRefused || error instanceof NotLeading || signal.aborted) throw error;
      state.failed((error as Error).message);
      options.report({ kind: 'trouble', error: error as Error, retryInMs });
    };
    const once = async () => {
      await work();
      state.answered();
    };
    await retry(once, { backoff: BACKOFF, isJittered: true, signal, failed });
  };
  const drain = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const batch = pending.take(BATCH);
      if (batch === undefined) {
        await pending.some(signal);
        continue;
      }
      try {
        await persist(signal, async () => state.wrote(await options.writer.write(batch.names)));
        if (signal.aborted) batch.failed(new NotLeading());
        else batch.done();
      } catch (error) {
        batch.failed(error);
        const [first] = batch.names;
        if (error instanceof SourceRefused) refused(first?.type ?? '', error);
        else throw error;
      }
    }
  };
  const lookAround = async (signal: AbortSignal, newest: Reconciliation['newest']): Promise<void> => {
    while (!signal.aborted) {
      const began = Date.now();
      looked = Promise.withResolvers<void>();
      if (options.firstCopy.phase() === 'done') {
        await persist(signal, newest);
        if (signal.aborted) return;
        state.looked(began);
      }
      await Promise.race([sleep(options.intervalMs, signal), looked.promise]);
    }
  };
  const compareAll = async (signal: AbortSignal, everything: Reconciliation['everything']): Promise<void> => {
    while (!signal.aborted) {
      const [began, requests, events] = [Date.now(), options.requests(), state.status().events];
      const pace =
        options.firstCopy.phase() !== 'done' ? async () => {} : createRequestPace(options.rate, signal);
      await persist(signal, () => everything(pace));
      if (signal.aborted) return;
      const seconds = (Date.now() - began) / 1000;
      state.compared(began, seconds);
      options.firstCopy.enter('done');
      const counts = { requests: options.requests() - requests, events: state.status().events - events };
      options.report({ kind: 'compared', seconds, ...counts });
      await sleep(options.intervalMs, signal);
    }
  };
  const runTerm = async (signal: AbortSignal): Promise<void> => {
    await persist(signal, options.begin);
    options.report({ kind: 'following' });
    const { newest, everything } = options.reconciliation({
      sync: (names) => syncWithin(signal, names),
      refused,
      kept,
    });
    const loops = [drain(signal), lookAround(signal, newest), compareAll(signal, everything)];
    // The source may not answer: the next term must not wait for it.
    await untilAborted(Promise.all(loops), signal);
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      if (!options.isLeading()) {
        state.role('standby');
        await options.leadChanged(LEAD_LOOK_MS);
        continue;
      }
      const ended = new AbortController();
      const signal = AbortSignal.any([ended.signal, closing.signal]);
      signal.addEventListener('abort', () => pending.clear(new NotLeading()));
      term = signal;
      state.role('leading');
      watchLead(options, signal).then(
        () => ended.abort(),
        () => ended.abort(),
      );
      await runTerm(signal).catch((error: unknown) => {
        if (error instanceof NotLeading) return;
        state.failed((error as Error).message);
        options.report({ kind: 'trouble', error: error as Error, retryInMs: BACKOFF.longestMs });
      });
      ended.abort();
      if (options.isLeading()) await sleep(BACKOFF.firstMs, closing.signal);
    }
  };
  // Never rejects: failures of a term are reported.
  const done = run();
  return {
    sync: (names) => syncWithin(term, names),
    look: () => looked.resolve(),
    state,
    async close() {
      closing.abort();
      await done;
    },
  };
}

async function watchLead({ isLeading, leadChanged }: FollowerOptions, signal: AbortSignal): Promise<void> {
  while (isLeading() && !signal.aborted) await leadChanged(LEAD_LOOK_MS);
}
