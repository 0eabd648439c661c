import { join } from 'node:path';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { evolveStream, watchStream } from '../../shared/event-store/watch-stream.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { replaceDamaged } from '../../shared/sqlite/replace-damaged.ts';
import { SHORT_WAIT_MS, whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import { webhookStream } from '../../shared/webhooks/webhook-events.ts';
import { evolveWebhooks } from '../../shared/webhooks/webhook-state.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Metrics } from '../operating/metrics.ts';
import { leadOutbox } from '../outbox/lead-outbox.ts';
import { type DeliveryStore, openDeliveryStore, WEBHOOKS_FILE, WEBHOOKS_TABLES } from './delivery-store.ts';
import type { TermOptions } from './term-options.ts';
import { countAttempts, watchDeliveries } from './watch-deliveries.ts';
import { createWebhookCommands, readWebhooks, type WebhookCommandsOptions } from './webhook-commands.ts';
import { startTerm } from './webhook-term.ts';

export type WebhooksOptions = Omit<
  TermOptions,
  'epoch' | 'store' | 'hooks' | 'commands' | 'log' | 'events' | 'now'
> & {
  readonly log: EventStore;
  readonly fleet: Pick<Fleet, 'epoch' | 'changed'>;
  /** Data directory of this process. */
  readonly data: string;
  readonly commands: Pick<WebhookCommandsOptions, 'key' | 'author'>;
  readonly metrics: Metrics | undefined;
};

/** Webhooks of a process that can lead. */
export type Webhooks = Awaited<ReturnType<typeof openWebhooks>>;

/** Delivers webhooks while this process is the leader. If there are no webhooks, it reads only the stream that defines them. */
export async function openWebhooks(options: WebhooksOptions) {
  const { log, space, fleet, metrics } = options;
  const events = createEffectiveEvents(log, space);
  const report = countAttempts(metrics, options.report);
  const byCaller = { ...options.commands, log, space, now: Date.now };
  const commands = createWebhookCommands(byCaller);
  const asProcess = createWebhookCommands({ ...byCaller, author: () => PROCESS });
  let changed = () => {};
  const definitions = await watchDefinitions(log, space, () => changed());
  definitions.done.catch(report.error);
  const { hooks } = definitions;
  const store = openOwnStore(options);
  const backlog = () => (fleet.epoch() === undefined ? null : store.backlog());
  watchDeliveries(metrics, backlog);
  const outbox = leadOutbox({
    fleet,
    hasWork: () => hooks().size > 0,
    failed: report.error,
    async begin(epoch, signal) {
      await whenUnlocked(() => store.beginTerm(epoch), signal);
      const own = { epoch, events, report, store, hooks, commands: asProcess, now: Date.now };
      return startTerm({ ...options, ...own });
    },
  });
  changed = outbox.wake;
  return {
    /**
     * Commands, and the deliveries that this process made: all deliveries if it has always been the leader. `announce` writes the progress
     * to the log, so that the next leader makes requested replays. It never rejects.
     */
    served: { commands, store, limits: options.limits, announce: async () => outbox.term()?.announce() },
    /** Returns the number of unfinished deliveries; null if another process delivers. */
    backlog,
    /** Writes progress to the log for the next leader. Nothing is delivered after that. */
    stop: outbox.stop,
    async close(): Promise<void> {
      await outbox.stop();
      await definitions.close();
      store.close();
    },
  };
}

/** Opens the file of this process. After a loss of the file, the log says which deliveries are not done. */
function openOwnStore({ data, report }: Pick<WebhooksOptions, 'data' | 'report'>): DeliveryStore {
  const file = join(data, WEBHOOKS_FILE);
  if (replaceDamaged(file, WEBHOOKS_TABLES)) report.replaced(file);
  return openDeliveryStore(data, SHORT_WAIT_MS);
}

/** Author of changes that Varve itself makes. */
const PROCESS = { actor: { kind: 'process', id: 'webhooks' } } as const;

/** Reads the webhooks, and keeps them current. Calls `changed` after each change. `done` rejects when they can no longer be read. */
async function watchDefinitions(log: EventStore, space: string, changed: () => void) {
  const { state, done, close } = await watchStream(log, {
    stream: webhookStream(space),
    read: () => readWebhooks(log, space),
    evolve: (known, event) => evolveStream(known, event, evolveWebhooks),
    changed,
  });
  return { hooks: () => state().hooks, done, close };
}
