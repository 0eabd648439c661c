import type { ComponentValue, LinkTarget } from '../../shared/document/events.ts';
import { RequestError } from '../../shared/request-error.ts';
import type {
  Component,
  ComponentAttribute,
  DynamicZoneAttribute,
  RelationAttribute,
} from '../../shared/schema/content-type.ts';
import { componentOf } from '../../shared/schema/schema-registry.ts';
import { type Check, isComplete, report } from './check.ts';
import { checkScalar } from './check-scalar.ts';
import { typeMessage } from './describe-value.ts';
import { isRecord } from './json-record.ts';
import { applyRelation } from './place-links.ts';
import { notLinkedError } from './relation-problems.ts';
import { INVALID_RELATIONS, type RelationScope, resolveRelation } from './resolve-relation.ts';

export type EntryCheck = Check & { readonly relations: RelationScope };

const NO_COMPONENT_NAMED = 'Cannot build relations store from dynamiczone, component identifier is undefined';

/**
 * Stored value of a component attribute; undefined when nothing is sent. A component sent with the `id` of an existing
 * one updates it; any other is new (SEMANTICS section 13). `existing`: the current value.
 */
export function checkComponentAttribute(
  check: EntryCheck,
  attribute: ComponentAttribute,
  path: string,
  sent: unknown,
  existing: unknown,
): unknown {
  if (attribute.repeatable) {
    const item = (value: unknown, at: string, others: readonly ComponentValue[]) =>
      checkItem(
        check,
        attribute,
        componentOf(check.relations.registry, attribute.component),
        at,
        value,
        others,
      );
    return checkList(check, attribute, path, sent, existing, item);
  }
  const value = sent === undefined && check.mode === 'publish' ? null : sent;
  if (value === undefined) {
    if (attribute.required && isComplete(check) && check.mode === 'creation') {
      report(check, path, `${path} must be defined.`);
    }
    return undefined;
  }
  if (value === null && !(attribute.required && isComplete(check))) return null;
  if (!isRecord(value)) return report(check, path, typeMessage(path, 'object', value, value), value);
  const component = componentOf(check.relations.registry, attribute.component);
  return checkItem(check, attribute, component, path, value, componentsOf(existing));
}

/** The stored value of a dynamic zone; undefined when nothing is sent. */
export function checkDynamicZone(
  check: EntryCheck,
  attribute: DynamicZoneAttribute,
  path: string,
  sent: unknown,
  existing: unknown,
): unknown {
  if (sent !== undefined && sent !== null && !Array.isArray(sent))
    check.relations.faults.push(NO_COMPONENT_NAMED);
  return checkList(check, attribute, path, sent, existing, (value, at, others) => {
    const uid = isRecord(value) ? value['__component'] : undefined;
    const component = zoneComponent(check, attribute, at, uid);
    if (component === undefined) return undefined;
    const ofKind = others.filter((other) => other.__component === uid);
    return { __component: uid, ...checkItem(check, attribute, component, at, value, ofKind) };
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
    report(check, at, `${at} is a required field`);
    return undefined;
  }
  if (typeof uid === 'string' && attribute.components.includes(uid)) {
    return componentOf(check.relations.registry, uid);
  }
  if (!check.relations.registry.components.has(String(uid))) check.relations.faults.push(INVALID_RELATIONS);
  report(check, at, `${at} must be one of the following values: ${attribute.components.join(', ')}`, uid);
  return undefined;
}

type CheckItem = (value: unknown, path: string, existing: readonly ComponentValue[]) => unknown;

function checkList(
  check: EntryCheck,
  attribute: ComponentAttribute | DynamicZoneAttribute,
  path: string,
  sent: unknown,
  existing: unknown,
  checkOne: CheckItem,
): unknown {
  const value = check.mode === 'publish' ? (sent ?? []) : sent;
  if (value === undefined) {
    if (attribute.required && isComplete(check) && check.mode === 'creation') {
      report(check, path, `${path} must be defined.`);
    }
    return undefined;
  }
  if (!Array.isArray(value)) return report(check, path, typeMessage(path, 'array', value, value), value);
  if (isComplete(check)) checkCount(check, attribute, path, value);
  const others = componentsOf(existing);
  return value.map((item, index) => checkOne(item, `${path}[${index}]`, others));
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
  path: string,
  value: unknown,
  others: readonly ComponentValue[],
): ComponentValue | undefined {
  if (!isRecord(value)) {
    report(check, path, typeMessage(path, 'object', null, value), null);
    return undefined;
  }
  const kept = check.mode === 'publish' ? undefined : keptComponent(name, value['id'], others);
  const inner: EntryCheck =
    check.mode === 'publish' ? check : { ...check, mode: kept ? 'update' : 'creation' };
  const stored: Record<string, unknown> = { ...kept };
  for (const attribute of component.attributes.values()) {
    const sent = Object.hasOwn(value, attribute.name) ? value[attribute.name] : undefined;
    const result = checkMember(inner, attribute, `${path}.${attribute.name}`, sent, kept?.[attribute.name]);
    if (result === null) delete stored[attribute.name];
    else if (result !== undefined) stored[attribute.name] = result;
  }
  return stored as ComponentValue;
}

function checkMember(
  check: EntryCheck,
  attribute: Component['attributes'] extends ReadonlyMap<string, infer Member> ? Member : never,
  path: string,
  sent: unknown,
  existing: unknown,
): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return checkScalar(check, attribute, path, sent);
    case 'relation':
      return check.mode === 'publish' ? undefined : checkLinks(check, attribute, sent, existing);
    case 'component':
      return checkComponentAttribute(check, attribute, path, sent, existing);
    case 'dynamiczone':
      return checkDynamicZone(check, attribute, path, sent, existing);
  }
}

function checkLinks(
  check: EntryCheck,
  attribute: RelationAttribute,
  sent: unknown,
  existing: unknown,
): readonly LinkTarget[] | undefined {
  const input = resolveRelation(check.relations, attribute, sent);
  if (input === undefined) return undefined;
  const linked = Array.isArray(existing) ? (existing as readonly LinkTarget[]) : [];
  return applyRelation(linked, input, notLinkedError(check.relations, attribute));
}

function keptComponent(
  attribute: string,
  id: unknown,
  others: readonly ComponentValue[],
): ComponentValue | undefined {
  if (id === undefined || id === null) return undefined;
  const kept = others.find((other) => other.id === Number(id));
  if (kept !== undefined) return kept;
  throw new RequestError(
    'not-applicable',
    `Some of the provided components in ${attribute} are not related to the entity`,
  );
}

function componentsOf(existing: unknown): readonly ComponentValue[] {
  return [existing].flat().filter(isRecord) as readonly ComponentValue[];
}
