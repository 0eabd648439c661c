import type { EventMetadata } from '../event-store/event-store.ts';

/** Events that define webhooks, and events that record the progress of their deliveries. Each kind has one stream in a namespace. */

/** Names of events in version 1 of the events that have them. */
export const EARLIER_WEBHOOK_EVENTS = [
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

/** Names of events as in Strapi. `entry.related-change` is Varve's own. */
export const WEBHOOK_EVENTS = [...EARLIER_WEBHOOK_EVENTS, 'releases.publish'] as const;
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

export type WebhookDefined = {
  readonly type: 'webhook-defined';
  /** The whole definition, which replaces an earlier one with the same id. */
  readonly data: {
    readonly id: string;
    readonly name: string;
    readonly url: string;
    readonly events: readonly WebhookEventName[];
    /** Uids of the content types; empty: all. */
    readonly types: readonly string[];
    /** Locales; empty: all. */
    readonly locales: readonly string[];
    /** Query string that selects the data of an entry to send, such as `populate=*`. */
    readonly populate: string;
    /** Additional headers by name, encrypted together with the secrets, because they often contain a password. */
    readonly sealed: string;
    readonly allowPrivate: boolean;
    /** `paused`: deliveries are stored and wait. `disabled`: no deliveries are made. */
    readonly status: 'active' | 'paused' | 'disabled';
    /** Reason why Varve disabled the webhook; null if it did not. */
    readonly reason: string | null;
  };
};

export type WebhookRemoved = { readonly type: 'webhook-removed'; readonly data: { readonly id: string } };

/** An unfinished delivery: its webhook, and the first event of the change. */
export type OpenDelivery = {
  readonly hook: string;
  readonly position: string;
  readonly event: WebhookEventName;
  readonly type: string;
  readonly documentId: string;
  readonly parked: boolean;
};

/** An unfinished replay of history: everything since a position. */
export type OpenReplay = { readonly hook: string; readonly from: string };

/** Metadata of a `webhooks-progressed` event. Earlier releases ignore the replays here; a member of `data` would stop them. */
export type ProgressMetadata = EventMetadata & { readonly replays?: readonly OpenReplay[] };

/** Progress of the leader, from which the next leader continues. */
export type WebhooksProgressed = {
  readonly type: 'webhooks-progressed';
  readonly data: {
    /** Id of the file that has the deliveries. */
    readonly store: string;
    /** Position up to which everything is delivered, except `open`. */
    readonly upTo: string;
    readonly open: readonly OpenDelivery[];
  };
};

export type WebhookLogEvent = WebhookDefined | WebhookRemoved;

/** Returns `<space>.webhooks`, the name of the stream with definitions. */
export function webhookStream(space: string): string {
  return `${space}.webhooks`;
}

/** Returns the stream `<space>.webhooks_progress`. It is separate from the definitions, which stay few. */
export function webhookProgressStream(space: string): string {
  return `${space}.webhooks_progress`;
}

const WEBHOOK_LOG_EVENTS: ReadonlySet<string> = new Set<(WebhookLogEvent | WebhooksProgressed)['type']>([
  'webhook-defined',
  'webhook-removed',
  'webhooks-progressed',
]);

/** Returns whether an event defines a webhook or records deliveries. No row depends on such events. */
export function isWebhookEvent({ type }: { readonly type: string }): boolean {
  return WEBHOOK_LOG_EVENTS.has(type);
}
