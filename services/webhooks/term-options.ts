import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import type { ResolveAddresses } from '../outbox/post-request.ts';
import type { Shows } from '../outbox/until-shown.ts';
import type { Attempt, DeliveryStore, StoredDelivery } from './delivery-store.ts';
import type { BodyOptions } from './webhook-body.ts';
import type { WebhookCommands } from './webhook-commands.ts';
import type { WebhookLimits } from './webhook-limits.ts';

export type WebhookReport = {
  error(error: unknown): void;
  /** A damaged file of deliveries was renamed, and a new one replaces it. */
  replaced(file: string): void;
  attempted(delivery: StoredDelivery, attempt: Attempt): void;
};

export type TermOptions = BodyOptions & {
  readonly events: EffectiveEvents;
  /** Gets the progress. */
  readonly log: Pick<EventStore, 'append'>;
  /** Epoch of the lease. */
  readonly epoch: number;
  readonly store: DeliveryStore;
  readonly hooks: () => ReadonlyMap<string, Webhook>;
  readonly commands: WebhookCommands;
  readonly shows: Shows;
  readonly limits: WebhookLimits;
  readonly report: WebhookReport;
  readonly resolve?: ResolveAddresses;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};
