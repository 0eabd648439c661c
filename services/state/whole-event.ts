import type { JournalRow } from '../../projections/journal/journal.ts';
import { type DocumentEvent, isDocumentEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { EventType } from '../../shared/events/event-versions.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { Attribute } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type ListedEvent, presentListed } from './listed-event.ts';

/** An event with its data, as far as callers with full access may see it, and with its effect on rows. */
export type WholeEvent = ListedEvent & {
  readonly id: string;
  readonly revision: string;
  readonly epoch: number;
  /** Id of the request that caused it, and id of the event that did; null: none is known. */
  readonly requestId: string | null;
  readonly causedBy: string | null;
  /** Link of the hash chain; null: the log has no chain. */
  readonly chain: string | null;
  /** Without private attributes, passwords and secrets; null: the event cannot be read, or its entry has no type in force. */
  readonly data: unknown;
  /** Rows that it wrote or removed; null: this process has no journal of them. */
  readonly rows: readonly EffectOnRow[] | null;
};

/** Effect of an event on a row: an entry in one locale and world. */
export type EffectOnRow = Pick<JournalRow, 'locale' | 'status' | 'event'>;

/** Returns an event for people. `rows`: its changes in the journal. */
export function presentWhole(
  event: StoredEvent,
  registry: SchemaRegistry,
  rows: readonly JournalRow[] | undefined,
): WholeEvent {
  const { id, revision, metadata, chain = null } = event;
  return {
    ...presentListed(event, registry),
    id,
    revision: String(revision),
    epoch: metadata.epoch,
    requestId: metadata.correlationId ?? null,
    causedBy: metadata.causationId ?? null,
    chain,
    data: event.unreadable === undefined ? publicData(event, registry) : null,
    rows: rows?.map(({ locale, status, event: effect }) => ({ locale, status, event: effect })) ?? null,
  };
}

/** Members of other events that people may see. The compiler asks for those of a new event. */
const SHOWN: Readonly<Record<Exclude<EventType, DocumentEvent['type']>, readonly string[]>> = {
  // Schemas name private attributes.
  'content-type-defined': ['uid', 'defaultLocale'],
  'token-created': ['id', 'name', 'tokenType', 'allow', 'drafts', 'history', 'expiresAt'],
  'token-revoked': ['id'],
  'public-rights-set': ['allow'],
  'role-defined': ['id', 'type', 'name', 'description', 'allow', 'drafts', 'history', 'login'],
  'login-configured': ['switches', 'mails'],
  'leader-elected': ['epoch', 'owner', 'address'],
  'leader-stepped-down': ['epoch'],
  'successor-named': ['epoch', 'owner', 'address', 'forMs'],
  'log-identified': ['id', 'copyOf', 'history'],
  'process-started': ['owner', 'claim'],
  'webhook-defined': [
    ...['id', 'name', 'url', 'events', 'types', 'locales', 'populate', 'allowPrivate', 'status', 'reason'],
  ],
  'webhook-removed': ['id'],
  'webhooks-progressed': ['store', 'upTo', 'open'],
  'erasure-ordered': ['type', 'documentId', 'reason'],
  'document-erased': ['order', 'type', 'documentId', 'events'],
  'synonyms-set': ['contentType', 'groups'],
  'search-rules-set': ['contentType', 'rules'],
  'release-defined': ['id', 'name', 'scheduledAt', 'timezone', 'single'],
  'release-changed': ['id', 'put', 'removed'],
  'release-removed': ['id'],
  'release-done': ['id', 'name', 'scheduledAt', 'timezone', 'lateMs', 'published', 'unpublished'],
  'release-failed': ['id', 'name', 'scheduledAt', 'timezone', 'problems'],
};

function publicData(event: StoredEvent, registry: SchemaRegistry): unknown {
  const { type, data } = event;
  if (!isRecord(data)) return null;
  if (!isDocumentEvent(event)) return only(data, SHOWN[type as keyof typeof SHOWN] ?? []);
  const attributes = registry.contentTypes.get(String(data['type']))?.attributes;
  if (attributes === undefined) return null;
  const { values, relations, shared, ...others } = data;
  const isPublic = (name: unknown) => attributes.get(String(name))?.private === false;
  return {
    ...others,
    ...(isRecord(values) ? { values: publicValues(values, attributes, registry) } : {}),
    ...(Array.isArray(relations)
      ? { relations: relations.filter((each: unknown) => isRecord(each) && isPublic(each['attribute'])) }
      : {}),
    ...(Array.isArray(shared) ? { shared: shared.filter(isPublic) } : {}),
  };
}

type Values = Readonly<Record<string, unknown>>;

function only(data: Values, names: readonly string[]): Values {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(data, name)).map((name) => [name, data[name]]),
  );
}

/** Returns values without private attributes, also inside components. A name that no schema has is omitted, like a private one. */
function publicValues(
  values: Values,
  attributes: ReadonlyMap<string, Attribute>,
  registry: SchemaRegistry,
): Values {
  const shown = Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'id' || name === '__component') return [[name, value]];
    const attribute = attributes.get(name);
    if (attribute === undefined || attribute.private) return [];
    return [[name, publicValue(value, attribute, registry)]];
  });
  return Object.fromEntries(shown);
}

function publicValue(value: unknown, attribute: Attribute, registry: SchemaRegistry): unknown {
  if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return value;
  if (Array.isArray(value)) return value.map((part: unknown) => publicValue(part, attribute, registry));
  if (!isRecord(value)) return null;
  const uid = attribute.kind === 'component' ? attribute.component : String(value['__component']);
  const component = registry.components.get(uid);
  return component === undefined ? null : publicValues(value, component.attributes, registry);
}
