import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import { commandOf } from '../history/document-actions.ts';
import { createAskedWork } from '../outbox/asked-work.ts';
import type { HistoryRequest } from './delivery-store.ts';
import { makeDeliveries } from './make-deliveries.ts';
import type { TermOptions } from './term-options.ts';

const BATCH_SIZE = 100;

export type HistoryReplayOptions = TermOptions & {
  readonly made: () => void;
  /** Position up to which deliveries were made. The usual deliveries of later events follow. */
  readonly reached: () => bigint;
  /** Writes the requests to the log, so that the next leader makes the unfinished ones. */
  readonly progress: { readonly write: () => Promise<void> };
};

/**
 * Sends deliveries again from a position on, in the order of the log, as `varve webhook replay --from` requests. Deliveries that are no
 * longer stored are made again, marked as replayed.
 */
export function createHistoryReplay(options: HistoryReplayOptions) {
  const { store, report } = options;
  const work = async (): Promise<void> => {
    const requests = store.historyRequests();
    if (requests.length > 0) await options.progress.write();
    for (const request of requests) {
      if (signal.aborted) return;
      await replay(options, request, signal);
      if (signal.aborted) return;
      await whenUnlocked(() => store.forgetHistory(request), signal);
    }
  };
  const { signal, ...replays } = createAskedWork({
    work,
    againMs: options.limits.lookMs,
    failed: report.error,
  });
  return replays;
}

async function replay(
  options: HistoryReplayOptions,
  { hook: id, from }: HistoryRequest,
  signal: AbortSignal,
): Promise<void> {
  const { store } = options;
  if (!options.hooks().has(id)) return;
  const until = options.reached();
  const before = options.now();
  let command: StoredEvent[] = [];
  const deliver = async (): Promise<void> => {
    const hook = options.hooks().get(id);
    const events = command;
    command = [];
    if (hook === undefined || events.length === 0) return;
    const again = { ...hook, since: 0n };
    for await (const made of makeDeliveries(options, events, [again], { marks: { replayed: true } })) {
      await whenUnlocked(() => store.addAgain(made, options.now()), signal);
      options.made();
    }
  };
  for await (const event of options.events.after(from - 1n, { until, batchSize: BATCH_SIZE })) {
    if (signal.aborted) return;
    refuseUnreadable(event);
    const [first] = command;
    if (first !== undefined && commandOf(first) !== commandOf(event)) await deliver();
    command.push(event);
  }
  await deliver();
  // Stored deliveries that cannot be made again: their documents are no longer linked with a changed document.
  await whenUnlocked(() => store.replayOthers({ hook: id, from, until, before }, options.now()), signal);
  options.made();
}
