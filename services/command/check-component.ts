import type { ComponentValue, LinkTarget } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import { plainText } from '../../shared/plain-text.ts';
import { RequestError } from '../../shared/request-error.ts';
import type {
  Attribute,
  Component,
  ComponentAttribute,
  DynamicZoneAttribute,
  RelationAttribute,
} from '../../shared/schema/content-type.ts';
import { componentOf } from '../../shared/schema/schema-registry.ts';
import { checkOfAttribute } from './attribute-condition.ts';
import { type Check, type EntryCheck, isComplete, report, reportType } from './check.ts';
import { checkScalar } from './check-scalar.ts';
import { typeMessage } from './describe-value.ts';
import { applyRelation } from './place-links.ts';
import { INVALID_RELATIONS } from './problem.ts';
import { notLinkedError } from './relation-problems.ts';
import { checkPublishedRelation, checkRequiredRelation } from './required-relations.ts';
import { resolveRelation } from './resolve-relation.ts';

/** Value of one attribute in a request, next to the stored one. */
type Sent = { readonly path: string; readonly value: unknown; readonly existing: unknown };

const NO_COMPONENT_NAMED = 'Cannot build relations store from dynamiczone, component identifier is undefined';

/** Returns the stored value of an attribute other than a relation; undefined if nothing is sent. */
export function checkAttribute(
  check: EntryCheck,
  attribute: Exclude<Attribute, RelationAttribute>,
  sent: Sent,
): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return checkScalar(check, attribute, sent.path, sent.value);
    case 'component':
      return checkComponentAttribute(check, attribute, sent);
    case 'dynamiczone':
      return checkDynamicZone(check, attribute, sent);
  }
}

/**
 * Returns the stored value of a component attribute; undefined if nothing is sent. A component sent with the `id` of an existing one
 * updates it; any other is new (SEMANTICS section 13).
 */
function checkComponentAttribute(check: EntryCheck, attribute: ComponentAttribute, sent: Sent): unknown {
  if (attribute.repeatable) {
    const component = componentOf(check.relations.registry, attribute.component);
    return checkList(check, attribute, sent, (item) => checkItem(check, attribute, component, item));
  }
  const { path } = sent;
  const value = sent.value === undefined && check.mode === 'publish' ? null : sent.value;
  if (value === undefined) {
    if (attribute.required && isComplete(check) && check.mode === 'creation') {
      report(check, path, `${path} must be defined.`);
    }
    return undefined;
  }
  if (value === null && !(attribute.required && isComplete(check))) return null;
  if (!isRecord(value)) return reportType(check, path, 'object', value);
  const component = componentOf(check.relations.registry, attribute.component);
  return checkItem(check, attribute, component, { path, value, others: componentsOf(sent.existing) });
}

/** The stored value of a dynamic zone; undefined when nothing is sent. */
function checkDynamicZone(check: EntryCheck, attribute: DynamicZoneAttribute, sent: Sent): unknown {
  if (sent.value !== undefined && sent.value !== null && !Array.isArray(sent.value))
    check.relations.faults.push(NO_COMPONENT_NAMED);
  return checkList(check, attribute, sent, (item) => {
    if (!isRecord(item.value)) {
      check.relations.faults.push(INVALID_RELATIONS);
      return report(check, item.path, typeMessage(item.path, 'object', null, item.value), null);
    }
    const uid = item.value['__component'];
    const component = zoneComponent(check, attribute, item.path, uid);
    if (component === undefined) return undefined;
    const others = item.others.filter((other) => other.__component === uid);
    return { __component: uid, ...checkItem(check, attribute, component, { ...item, others }) };
  });
}

function zoneComponent(
  check: EntryCheck,
  attribute: DynamicZoneAttribute,
  path: string,
  uid: unknown,
): Component | undefined {
  const at = `${path}.__component`;
  if (uid === undefined || uid === null || uid === '') {
    check.relations.faults.push(NO_COMPONENT_NAMED);
    return report(check, at, `${at} is a required field`);
  }
  if (typeof uid === 'string' && attribute.components.includes(uid)) {
    return componentOf(check.relations.registry, uid);
  }
  const { registry, faults } = check.relations;
  const isKnown = registry.components.has(plainText(uid));
  if (!isKnown) faults.push(INVALID_RELATIONS);
  const accepted = isKnown ? attribute.components : strapiOrder([...registry.components.keys()]);
  return report(check, at, `${at} must be one of the following values: ${accepted.join(', ')}`, uid);
}

/** Components as Strapi's message lists them: folder by folder, the last of each folder first (case `write.unknown-012`). */
function strapiOrder(uids: readonly string[]): string[] {
  const folder = (uid: string) => uid.split('.', 1)[0] ?? '';
  const compare = (a: string, b: string) => Number(a > b) - Number(a < b);
  return uids.toSorted((a, b) => compare(folder(a), folder(b)) || compare(b, a));
}

/** A component in a request. `others`: the stored components, of which it may be one. */
type SentComponent = {
  readonly path: string;
  readonly value: unknown;
  readonly others: readonly ComponentValue[];
};

function checkList(
  check: EntryCheck,
  attribute: ComponentAttribute | DynamicZoneAttribute,
  { path, value: sent, existing }: Sent,
  checkOne: (item: SentComponent) => unknown,
): unknown {
  const value = check.mode === 'publish' ? (sent ?? []) : sent;
  if (value === undefined) {
    if (attribute.required && check.mode === 'creation' && (check.isNewEntry || isComplete(check))) {
      report(check, path, `${path} must be defined.`);
    }
    return undefined;
  }
  if (!Array.isArray(value)) return reportType(check, path, 'array', value);
  if (isComplete(check)) checkCount(check, attribute, path, value);
  const stored = componentsOf(existing);
  const checked = new Map<string, unknown>();
  for (const [index, item] of value.entries()) {
    // A component that is sent twice is updated twice, and stays in its first place, as in Strapi.
    const others = stored.map((other) => (checked.get(componentKey(other)) as ComponentValue) ?? other);
    const result = checkOne({ path: `${path}[${index}]`, value: item, others });
    checked.set(componentKey(result as ComponentValue | undefined) || `new ${index}`, result);
  }
  return [...checked.values()];
}

/** Returns the kind and id of a stored component; the empty text for a new one. */
function componentKey(component: ComponentValue | undefined): string {
  return component?.id === undefined ? '' : `${component.__component ?? ''} ${component.id}`;
}

function checkCount(
  check: Check,
  { min, max, required }: ComponentAttribute | DynamicZoneAttribute,
  path: string,
  items: readonly unknown[],
): void {
  if (min !== undefined && items.length < min && (required || items.length > 0)) {
    report(check, path, `${path} field must have at least ${min} items`, items);
  }
  if (max !== undefined && items.length > max) {
    report(check, path, `${path} field must have less than or equal to ${max} items`, items);
  }
}

function checkItem(
  check: EntryCheck,
  { name }: ComponentAttribute | DynamicZoneAttribute,
  component: Component,
  { path, value, others }: SentComponent,
): ComponentValue | undefined {
  if (!isRecord(value)) {
    return report(check, path, typeMessage(path, 'object', null, value), null);
  }
  // A new entry or component has no stored components to keep, so ids in it have no effect, as in Strapi.
  const isStored = check.mode === 'update' && Object.hasOwn(value, 'id');
  const kept = isStored ? others.find(({ id }) => String(id) === plainText(value['id'])) : undefined;
  if (isStored && kept === undefined) check.relations.late.push(foreignComponentError(name));
  const inner: EntryCheck =
    check.mode === 'publish' ? check : { ...check, mode: kept ? 'update' : 'creation' };
  const stored: Record<string, unknown> = { ...kept };
  for (const attribute of component.attributes.values()) {
    const sent = Object.hasOwn(value, attribute.name) ? value[attribute.name] : undefined;
    const own = checkOfAttribute(inner, attribute, value);
    const member = { path: `${path}.${attribute.name}`, value: sent, existing: kept?.[attribute.name] };
    const result =
      attribute.kind === 'relation'
        ? checkLinks(own, attribute, member)
        : checkAttribute(own, attribute, member);
    if (result === null) delete stored[attribute.name];
    else if (result !== undefined) stored[attribute.name] = result;
  }
  return stored as ComponentValue;
}

function checkLinks(
  check: EntryCheck,
  attribute: RelationAttribute,
  { path, value, existing }: Sent,
): readonly LinkTarget[] | undefined {
  if (check.mode === 'publish') {
    checkPublishedRelation(check, attribute, path, () => linksIn(value));
    return undefined;
  }
  checkRequiredRelation(check, attribute, path, value);
  const input = resolveRelation(check.relations, attribute, value);
  if (input === undefined) return undefined;
  const { late } = check.relations;
  return applyRelation(linksIn(existing), input, late, notLinkedError(check.relations, attribute));
}

function linksIn(stored: unknown): readonly LinkTarget[] {
  return Array.isArray(stored) ? (stored as readonly LinkTarget[]) : [];
}

function foreignComponentError(attribute: string): RequestError {
  return new RequestError(
    'not-applicable',
    `Some of the provided components in ${attribute} are not related to the entity`,
  );
}

function componentsOf(existing: unknown): readonly ComponentValue[] {
  return [existing].flat().filter(isRecord) as readonly ComponentValue[];
}
