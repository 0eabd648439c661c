import { randomUUID } from 'node:crypto';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import type { PostResult } from '../outbox/post-request.ts';
import type { DeliveryStore, StoredDelivery } from './delivery-store.ts';
import { postDelivery } from './dispatcher.ts';
import type { WebhookCommands } from './webhook-commands.ts';
import type { WebhookLimits } from './webhook-limits.ts';
import type { Sealed } from './webhook-secret.ts';

/**
 * A webhook for people and programs: without its secret and the values of its headers. `headers` is null if another access key encrypted
 * them.
 */
export function describeWebhook(
  hook: Webhook,
  { open }: WebhookCommands,
  store: Pick<DeliveryStore, 'count'> | undefined,
) {
  const { sealed: _sealed, since, ...rest } = hook;
  const headers = headerNames(() => open(hook));
  return { ...rest, headers, since: String(since), ...(store && { deliveries: store.count(hook.id) }) };
}

/** An unreadable webhook must not hide the others, and must be listed so that somebody can remove it. */
function headerNames(open: () => Sealed): readonly string[] | null {
  try {
    return Object.keys(open().headers);
  } catch {
    return null;
  }
}

export type DescribedWebhook = ReturnType<typeof describeWebhook>;

/**
 * Returns a delivery for people and programs: with times in ISO 8601, the position as text, and the body parsed. `nextAttemptAt` is null
 * unless the delivery waits.
 */
export function describeDelivery(delivery: StoredDelivery) {
  return { ...describeWithoutBody(delivery), body: JSON.parse(delivery.body) as unknown };
}

export type DescribedDelivery = ReturnType<typeof describeDelivery>;

/** Returns a delivery as describeDelivery does, without its body. */
export function describeWithoutBody(delivery: StoredDelivery) {
  const { seq: _seq, body: _body, position, createdAt, nextAt, state, ...rest } = delivery;
  return {
    ...rest,
    state,
    position: String(position),
    createdAt: new Date(createdAt).toISOString(),
    nextAttemptAt: state === 'waiting' ? new Date(nextAt).toISOString() : null,
  };
}

/** Sends Strapi's `trigger-test` once. */
export function testWebhook(
  hook: Webhook,
  commands: WebhookCommands,
  limits: WebhookLimits,
): Promise<PostResult> {
  const event = 'trigger-test';
  const body = JSON.stringify({ event, createdAt: new Date().toISOString() });
  return postDelivery({ limits, commands }, hook, { id: `wh_${hook.id}_test_${randomUUID()}`, body, event });
}

/** Makes stored deliveries due again. With `from` it asks the leader, which also makes deliveries again that are no longer stored. */
export function replayDeliveries(
  store: DeliveryStore,
  { id }: Webhook,
  { delivery, from }: { readonly delivery?: string | undefined; readonly from?: bigint | undefined },
): number {
  const now = Date.now();
  if (delivery !== undefined) return store.replay({ id: delivery, hook: id }, now);
  if (from === undefined) return store.replay({ hook: id, parked: true }, now);
  store.requestHistory({ hook: id, from });
  return store.countSince(id, from);
}
