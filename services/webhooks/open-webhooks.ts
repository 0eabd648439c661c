import type { Backoff } from '../../shared/backoff.ts';
import type { EventStore, StoredEvent, Subscription } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { retry } from '../../shared/retry.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import { webhookStream } from '../../shared/webhooks/webhook-events.ts';
import { evolveWebhooks, type WebhookState } from '../../shared/webhooks/webhook-state.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Metrics } from '../operating/metrics.ts';
import { type DeliveryStore, openDeliveryStore } from './delivery-store.ts';
import type { TermOptions } from './term-options.ts';
import { countAttempts, watchDeliveries } from './watch-deliveries.ts';
import {
  createWebhookCommands,
  readWebhooks,
  type WebhookCommands,
  type WebhookCommandsOptions,
} from './webhook-commands.ts';
import type { WebhookLimits } from './webhook-limits.ts';
import { startTerm } from './webhook-term.ts';

export type WebhooksOptions = Omit<TermOptions, 'epoch' | 'store' | 'hooks' | 'commands' | 'log' | 'now'> & {
  readonly log: EventStore;
  readonly fleet: Pick<Fleet, 'epoch' | 'changed'>;
  /** Data directory of this process. */
  readonly data: string;
  readonly commands: Pick<WebhookCommandsOptions, 'key' | 'author'>;
  readonly metrics: Metrics | undefined;
};

/** Webhooks of a process that can lead. */
export type Webhooks = {
  /** Commands, and the deliveries that this process made: all deliveries if it has always been the leader. */
  readonly served: {
    readonly commands: WebhookCommands;
    readonly store: DeliveryStore;
    readonly limits: WebhookLimits;
    /** Writes the progress to the log, so that the next leader makes requested replays. Never rejects. */
    readonly announce: () => Promise<void>;
  };
  /** Writes progress to the log for the next leader. Nothing is delivered after that. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 };
const LEAD_LOOK_MS = 1_000;

/** Delivers webhooks while this process is the leader. If there are no webhooks, it reads only the stream that defines them. */
export async function openWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { log, space, fleet, metrics } = options;
  const report = countAttempts(metrics, options.report);
  const start = await log.lastPosition();
  let state: WebhookState = await readWebhooks(log, space);
  const store = openDeliveryStore(options.data);
  watchDeliveries(metrics, store, () => fleet.epoch() !== undefined);
  const own = { actor: { kind: 'process', id: 'webhooks' } } as const;
  const byCaller = { ...options.commands, log, space, now: Date.now };
  const commands = createWebhookCommands(byCaller);
  const asProcess = createWebhookCommands({ ...byCaller, author: () => own });
  const closing = new AbortController();
  let resting = new AbortController();
  let look = () => {};
  let announce = async () => {};
  const take = async (events: readonly StoredEvent[]) => {
    for (const event of events) {
      refuseUnreadable(event);
      if (event.revision > (state.revision ?? -1n)) state = evolveWebhooks(state, event);
    }
    if (events.length === 0) return;
    resting.abort();
    look();
  };
  const definitions: Subscription = log.subscribe(start, take, { stream: webhookStream(space) });
  definitions.done.catch(report.error);
  const hooks = () => state.hooks;
  const isNeeded = () => fleet.epoch() !== undefined && state.hooks.size > 0 && !closing.signal.aborted;
  /** Resolves when the leader, the webhooks or the term may have changed, and on close. */
  const rest = async (): Promise<void> => {
    resting = new AbortController();
    await untilAborted(fleet.changed(LEAD_LOOK_MS), resting.signal);
  };
  const lead = async (epoch: number): Promise<void> => {
    store.beginTerm(epoch);
    const own = { epoch, report, store, hooks, commands: asProcess, now: Date.now };
    const term = await startTerm({ ...options, ...own });
    look = term.look;
    announce = term.announce;
    let isOver = false;
    const done = term.done.finally(() => {
      isOver = true;
      resting.abort();
    });
    done.catch(() => {});
    try {
      while (isNeeded() && !isOver) await rest();
      if (isOver) await done;
    } finally {
      look = () => {};
      announce = async () => {};
      await term.close(fleet.epoch() !== undefined);
    }
  };
  const run = async (): Promise<void> => {
    const turn = async () => {
      const epoch = fleet.epoch();
      if (epoch !== undefined && isNeeded()) await lead(epoch);
      else await rest();
    };
    const { signal } = closing;
    while (!signal.aborted)
      await retry(turn, { backoff: BACKOFF, isJittered: true, signal, failed: report.error });
  };
  const running = run();
  const stop = async () => {
    closing.abort();
    resting.abort();
    await running;
  };
  return {
    served: { commands, store, limits: options.limits, announce: () => announce() },
    stop,
    async close() {
      await stop();
      await definitions.close();
      store.close();
    },
  };
}
