import { assertNever } from '../assert-never.ts';
import type { StoredEvent } from '../event-store/event-store.ts';
import type { WebhookDefined, WebhookLogEvent } from './webhook-events.ts';

/** The last definition of a webhook. */
export type Webhook = WebhookDefined['data'] & {
  readonly createdAt: string;
  /** Position after which events are delivered. */
  readonly since: bigint;
};

export type WebhookState = {
  readonly hooks: ReadonlyMap<string, Webhook>;
  /** Revision of the stream; undefined if it does not exist. */
  readonly revision: bigint | undefined;
};

export const NO_WEBHOOKS: WebhookState = { hooks: new Map(), revision: undefined };

/** Returns the state after an event of the webhooks' stream. A webhook that was disabled begins with new events. */
export function evolveWebhooks(state: WebhookState, stored: StoredEvent): WebhookState {
  const event = stored as unknown as WebhookLogEvent;
  const { revision } = stored;
  switch (event.type) {
    case 'webhook-defined': {
      const known = state.hooks.get(event.data.id);
      const continues = known !== undefined && known.status !== 'disabled';
      const hook: Webhook = {
        ...event.data,
        createdAt: known?.createdAt ?? stored.metadata.at,
        since: continues ? known.since : stored.position,
      };
      return { revision, hooks: new Map(state.hooks).set(hook.id, hook) };
    }
    case 'webhook-removed': {
      const hooks = new Map(state.hooks);
      hooks.delete(event.data.id);
      return { revision, hooks };
    }
    default:
      return assertNever(event);
  }
}
