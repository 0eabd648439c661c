import { defined } from '../../shared/defined.ts';
import type { ComponentValue, DocumentEvent, EntryValues } from '../../shared/document/events.ts';
import type { EventMetadata, StoredEvent } from '../../shared/event-store/event-store.ts';
import { isRecord } from '../../shared/json-record.ts';
import { type AttributeWithComponents, uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Attribute, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/**
 * The rest of an event after an erasure: names of documents, ids and links, and the time and author of the command. Without these a
 * replay would give other documents other ids. No value of an attribute is left.
 */

/** Returns the data of an erased event. `registry`: the content types of its time. */
export function skeletonOf({ data }: DocumentEvent, registry: SchemaRegistry): object {
  if (!('values' in data)) return data;
  const attributes = registry.contentTypes.get(data.type)?.attributes;
  const values = skeletonOfValues(registry, attributes, data.values);
  if (!('shared' in data)) return { ...data, values };
  const isLeft = (name: string) =>
    Object.hasOwn(values, name) || data.relations.some(({ attribute }) => attribute === name);
  return { ...data, values, shared: data.shared.filter(isLeft) };
}

/** Returns the metadata of an erased event. What a client chose, and ids of other erased events, are not left. `order`: its id. */
export function skeletonOfMetadata({ metadata }: StoredEvent, order: string) {
  const { schemaVersion, at, epoch, actor, via }: EventMetadata = metadata;
  return { schemaVersion, at, epoch, ...defined({ actor, via }), erased: order };
}

/** Returns whether an erasure would take nothing out of an event. Such an event stays as it is. */
export function isBare({ data, metadata }: StoredEvent, skeleton: object): boolean {
  return (
    JSON.stringify(data) === JSON.stringify(skeleton) && Object.keys(metadata).every((name) => LEFT.has(name))
  );
}

const LEFT: ReadonlySet<string> = new Set(['schemaVersion', 'at', 'epoch', 'actor', 'via', 'digest']);

function skeletonOfValues(
  registry: SchemaRegistry,
  attributes: ReadonlyMap<string, Attribute> | undefined,
  values: EntryValues,
): EntryValues {
  const left: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const attribute = attributes?.get(name);
    if (attribute === undefined || attribute.kind === 'scalar') continue;
    if (attribute.kind === 'relation') left[name] = value;
    else left[name] = skeletonOfComponents(registry, attribute, value);
  }
  return left;
}

function skeletonOfComponents(
  registry: SchemaRegistry,
  attribute: AttributeWithComponents,
  value: unknown,
): unknown {
  if (!Array.isArray(value)) return skeletonOfComponent(registry, attribute, value);
  return value.map((component) => skeletonOfComponent(registry, attribute, component));
}

function skeletonOfComponent(
  registry: SchemaRegistry,
  attribute: AttributeWithComponents,
  component: unknown,
): unknown {
  if (!isRecord(component)) return null;
  const uid: Uid = uidOfComponent(attribute, component);
  const { id, __component } = component as ComponentValue;
  const attributes = registry.components.get(uid)?.attributes;
  return { ...defined({ __component, id }), ...skeletonOfValues(registry, attributes, component) };
}
