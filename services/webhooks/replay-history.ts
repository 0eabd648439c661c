import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { isForeign, refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { epochAfter, isFenced } from '../../shared/fleet/fence.ts';
import { readEpochs } from '../fleet/epochs.ts';
import type { HistoryRequest } from './delivery-store.ts';
import { commandOf } from './document-actions.ts';
import { makeDeliveries } from './make-deliveries.ts';
import type { TermOptions } from './term-options.ts';

const BATCH_SIZE = 100;

/** Makes deliveries of older history again, marked as replayed, as `varve webhook replay --from` asks. */
export function createHistoryReplay(options: TermOptions & { readonly made: () => void }) {
  const { store, report } = options;
  let isClosed = false;
  let running: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (const request of store.historyRequests()) {
      await replay(options, request, () => isClosed);
      if (isClosed) return;
      store.forgetHistory(request);
    }
  };
  return {
    look(): void {
      if (isClosed) return;
      running ??= work()
        .catch(report.error)
        .finally(() => {
          running = undefined;
        });
    },
    async close(): Promise<void> {
      isClosed = true;
      await running;
    },
  };
}

async function replay(
  options: TermOptions & { readonly made: () => void },
  { hook: id, from }: HistoryRequest,
  isClosed: () => boolean,
): Promise<void> {
  const { log, space, store } = options;
  const until = store.checkpoint() ?? 0n;
  let epoch = (await readEpochs(log, space))(from);
  let command: StoredEvent[] = [];
  const deliver = async (): Promise<void> => {
    const hook = options.hooks().get(id);
    const events = command;
    command = [];
    if (hook === undefined || events.length === 0) return;
    const again = { ...hook, since: 0n };
    for await (const made of makeDeliveries(options, events, [again], { marks: { replayed: true } })) {
      store.add(made, undefined, options.now());
      options.made();
    }
  };
  for await (const batch of log.readAll(from - 1n, { batchSize: BATCH_SIZE })) {
    for (const event of batch) {
      if (isClosed()) return;
      if (event.position > until) return deliver();
      refuseUnreadable(event);
      epoch = epochAfter(epoch, event);
      if (isForeign(event) || isFenced(event, epoch)) continue;
      const [first] = command;
      if (first !== undefined && commandOf(first) !== commandOf(event)) await deliver();
      command.push(event);
    }
  }
  await deliver();
}
