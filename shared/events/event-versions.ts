import type { AccessEvent } from '../access/access-events.ts';
import type { VarveEvent } from '../document/events.ts';
import type { ErasureEvent } from '../erasure/erasure-events.ts';
import type { IdentityEvent } from '../fleet/identity-events.ts';
import type { LeaseEvent } from '../fleet/lease-events.ts';
import type { ReleaseEvent } from '../releases/release-events.ts';
import type { SearchEvent } from '../synonyms/synonym-events.ts';
import type { WebhookLogEvent, WebhooksProgressed } from '../webhooks/webhook-events.ts';

export type EventType =
  | VarveEvent['type']
  | AccessEvent['type']
  | LeaseEvent['type']
  | IdentityEvent['type']
  | ReleaseEvent['type']
  | SearchEvent['type']
  | WebhookLogEvent['type']
  | ErasureEvent['type']
  | WebhooksProgressed['type'];

/**
 * Version that this program writes, by event type. It is also the newest version that the program reads. Each type has its own numbers, so
 * a process of an earlier release stops only at events of a type that has changed. A new type begins with 1. Types with version 2 are older
 * than this rule: all types had one number then, and only `content-type-defined` changed from 1 to 2.
 */
export const EVENT_VERSIONS: Readonly<Record<EventType, number>> = {
  'entry-created': 2,
  'entry-changed': 2,
  'entry-published': 2,
  'entry-unpublished': 2,
  'draft-discarded': 2,
  'entry-deleted': 2,
  'entry-imported': 2,
  'content-type-defined': 2,
  'token-created': 3,
  'token-revoked': 2,
  'public-rights-set': 2,
  'role-defined': 2,
  'login-configured': 1,
  'leader-elected': 2,
  'leader-stepped-down': 2,
  'successor-named': 1,
  'log-identified': 1,
  'process-started': 1,
  'release-defined': 1,
  'release-changed': 1,
  'release-removed': 1,
  'release-done': 1,
  'release-failed': 1,
  'synonyms-set': 1,
  'search-rules-set': 1,
  'webhook-defined': 2,
  'webhook-removed': 1,
  'webhooks-progressed': 2,
  'erasure-ordered': 1,
  'document-erased': 1,
};
