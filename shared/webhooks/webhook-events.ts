import type { EventMetadata } from '../event-store/event-store.ts';

/** Events that define webhooks, and those that record how far their deliveries are: one stream each of a namespace. */

/** Names of events in Strapi's words; `entry.related-change` is Varve's own. */
export const WEBHOOK_EVENTS = [
  'entry.create',
  'entry.update',
  'entry.delete',
  'entry.publish',
  'entry.unpublish',
  'entry.draft-discard',
  'media.create',
  'media.update',
  'media.delete',
  'entry.related-change',
] as const;
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

export type WebhookDefined = {
  readonly type: 'webhook-defined';
  /** The whole definition: it replaces an earlier one of the same id. */
  readonly data: {
    readonly id: string;
    readonly name: string;
    readonly url: string;
    readonly events: readonly WebhookEventName[];
    /** Content types by uid; empty: all. */
    readonly types: readonly string[];
    /** Empty: all. */
    readonly locales: readonly string[];
    /** Query string that says what of an entry is sent, such as `populate=*`. */
    readonly populate: string;
    /** Additional headers by name, encrypted together with the secrets: they often carry a password. */
    readonly sealed: string;
    readonly allowPrivate: boolean;
    /** `paused`: deliveries are stored and wait. `disabled`: none are made. */
    readonly status: 'active' | 'paused' | 'disabled';
    /** Why Varve disabled it; null: it did not. */
    readonly reason: string | null;
  };
};

export type WebhookRemoved = { readonly type: 'webhook-removed'; readonly data: { readonly id: string } };

/** A delivery that is not done: its hook, and the first event of what happened. */
export type OpenDelivery = {
  readonly hook: string;
  readonly position: string;
  readonly event: WebhookEventName;
  readonly type: string;
  readonly documentId: string;
  readonly parked: boolean;
};

/** A replay of history that is not done: everything since a position. */
export type OpenReplay = { readonly hook: string; readonly from: string };

/** Metadata of a `webhooks-progressed`. Earlier releases ignore the replays: a member of `data` would stop them. */
export type ProgressMetadata = EventMetadata & { readonly replays?: readonly OpenReplay[] };

/** Progress of the leader, for its successor. */
export type WebhooksProgressed = {
  readonly type: 'webhooks-progressed';
  readonly data: {
    /** Id of the file in which the deliveries are. */
    readonly store: string;
    /** Everything up to this position is delivered, except `open`. */
    readonly upTo: string;
    readonly open: readonly OpenDelivery[];
  };
};

export type WebhookLogEvent = WebhookDefined | WebhookRemoved;

/** `<space>.webhooks` */
export function webhookStream(space: string): string {
  return `${space}.webhooks`;
}

/** `<space>.webhooks_progress`: apart from the definitions, which stay few. */
export function webhookProgressStream(space: string): string {
  return `${space}.webhooks_progress`;
}

const WEBHOOK_LOG_EVENTS: ReadonlySet<string> = new Set<(WebhookLogEvent | WebhooksProgressed)['type']>([
  'webhook-defined',
  'webhook-removed',
  'webhooks-progressed',
]);

/** Returns whether an event defines a webhook or records deliveries. No row depends on it. */
export function isWebhookEvent({ type }: { readonly type: string }): boolean {
  return WEBHOOK_LOG_EVENTS.has(type);
}
