import { LOGIN_ATTRIBUTE } from '../../shared/access/login-record.ts';
import { jsonText } from '../../shared/canonical-json.ts';
import { defined } from '../../shared/defined.ts';
import type { ImportedTarget } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import { valueAt } from '../../shared/map-values.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import {
  type Attribute,
  type ComponentAttribute,
  type DynamicZoneAttribute,
  type Model,
  type ScalarAttribute,
  type Uid,
  USER_TYPE,
} from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { isContentType } from '../../shared/schema/system-attributes.ts';
import { checkScalar } from '../command/check-scalar.ts';
import type { BodyProblem } from '../command/problem.ts';
import type { ImportNotes } from './import-notes.ts';
import type { LinkedRow, Staging } from './staging.ts';
import { nearestInt64, valueToStore } from './stored-value.ts';

export type ValueScope = {
  readonly registry: SchemaRegistry;
  readonly staging: Pick<Staging, 'linksOf'>;
  readonly notes: ImportNotes;
};

type Data = { readonly [name: string]: unknown };

/** Members of a row that are not attributes. */
const SYSTEM = new Set([
  ...['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'locale', 'localizations', '__component'],
  ...['createdBy', 'updatedBy', 'createdById', 'updatedById', 'created_by_id', 'updated_by_id'],
]);

/**
 * Returns the values of a row or component in the form of events. A value that breaks a rule of the schema is stored unchanged, and noted.
 * Only values of another type, or of a missing component, are omitted.
 */
export function importedValues(
  scope: ValueScope,
  model: Model,
  id: number | undefined,
  data: Data,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const attribute of model.attributes.values()) {
    const value = importedValue(scope, model, attribute, data);
    if (value !== undefined && value !== null) values[attribute.name] = value;
  }
  for (const [name, value] of Object.entries(data)) {
    if (SYSTEM.has(name) || model.attributes.has(name) || value === null) continue;
    // The log keeps the value, so no content is lost.
    values[name] = value;
    scope.notes.add(
      `${model.uid} ${name}`,
      'stored, and not served: the schema has no such attribute',
      `row ${id}`,
    );
  }
  return values;
}

function importedValue(scope: ValueScope, model: Model, attribute: Attribute, data: Data): unknown {
  const value = data[attribute.name];
  switch (attribute.kind) {
    case 'scalar':
      if (model.uid === USER_TYPE && NOT_IMPORTED.has(attribute.name))
        return noteCode(scope, attribute.name, value);
      return scalarValue(scope, model, attribute, data);
    case 'relation':
      return undefined;
    default:
      return componentValues(scope, model, attribute, value);
  }
}

/** Attributes of users that are not imported. The role is a link in an archive, and Varve does not store codes in clear text. */
const NOT_IMPORTED = new Set(['role', 'resetPasswordToken', 'confirmationToken', LOGIN_ATTRIBUTE]);

function noteCode({ notes }: ValueScope, name: string, value: unknown): undefined {
  if (name !== 'role' && typeof value === 'string')
    notes.add(`${USER_TYPE} ${name}`, 'omitted: users request a new code', undefined);
}

function scalarValue({ notes }: ValueScope, model: Model, attribute: ScalarAttribute, data: Data): unknown {
  const value = data[attribute.name];
  const id = typeof data['id'] === 'number' ? data['id'] : Number.NaN;
  const what = `${model.uid} ${attribute.name}`;
  const example = Number.isNaN(id) ? undefined : `row ${id}`;
  const isAbsent = value === null || value === undefined;
  if (isAbsent && !attribute.required) return undefined;
  const fitting = isAbsent ? undefined : valueToStore(attribute.type, value);
  const nearest = isAbsent || fitting !== undefined ? undefined : nearestInt64(attribute.type, value);
  const stored = fitting ?? nearest;
  if (nearest !== undefined)
    notes.add(what, `stored as ${nearest}, the nearest value that fits: was ${value}`, example);
  if (!isAbsent && stored === undefined) {
    const reason = `omitted: not a value of the type ${attribute.type}: ${jsonText(value).slice(0, 80)}`;
    notes.add(what, reason, example);
    return undefined;
  }
  for (const { message } of problemsOf(attribute, stored ?? null))
    notes.add(what, `stored unchanged: ${message}`, example);
  return stored;
}

/** Returns the problems of a value by the schema. A password is not checked, because an archive has only its hash. */
function problemsOf(attribute: ScalarAttribute, value: unknown): readonly BodyProblem[] {
  if (attribute.type === 'password') return [];
  const problems: BodyProblem[] = [];
  const check = { problems, unreadable: [], hashes: new Map<string, string>() };
  checkScalar(
    { ...check, strength: 'published', mode: 'publish', isNewEntry: false, passwords: 'draft' },
    attribute,
    attribute.name,
    value,
  );
  return problems;
}

type ComponentData = Data & { readonly id?: number; readonly __component?: Uid };

function componentValues(
  scope: ValueScope,
  model: Model,
  attribute: ComponentAttribute | DynamicZoneAttribute,
  value: unknown,
): unknown {
  if (value === null || value === undefined) return undefined;
  const what = `${model.uid} ${attribute.name}`;
  const given = (Array.isArray(value) ? value : [value]) as readonly unknown[];
  const found = given.filter(isRecord) as readonly ComponentData[];
  const others = given.length - found.length;
  if (others > 0) scope.notes.add(what, 'omitted: not a component, but null or a scalar', undefined, others);
  const values = found.flatMap((component) => componentValue(scope, what, attribute, component));
  const isList = attribute.kind === 'dynamiczone' || attribute.repeatable;
  const components = onePerId(scope, what, values);
  if (isList) return components;
  if (components.length > 1)
    scope.notes.add(
      what,
      'omitted: a second component of an attribute with one',
      undefined,
      components.length - 1,
    );
  return components[0];
}

/** Returns the values of a component in a list; none if the attribute does not allow it. */
function componentValue(
  scope: ValueScope,
  what: string,
  attribute: ComponentAttribute | DynamicZoneAttribute,
  component: ComponentData,
): readonly ComponentData[] {
  const uid = uidOfComponent(attribute, component);
  const definition = scope.registry.components.get(uid);
  const isAllowed = attribute.kind === 'component' || attribute.components.includes(uid);
  if (definition === undefined || !isAllowed) {
    const reason =
      uid === 'undefined'
        ? 'omitted: the value names no component'
        : `omitted: the attribute does not allow the component ${uid}`;
    scope.notes.add(what, reason, `component ${component.id}`);
    return [];
  }
  const id = Number.isSafeInteger(component.id) ? Number(component.id) : undefined;
  const values = importedValues(scope, definition, id, component);
  const links = id === undefined ? {} : componentLinks(scope, definition, id);
  const kind = attribute.kind === 'dynamiczone' ? { __component: uid } : {};
  return [{ ...kind, ...defined({ id }), ...values, ...links }];
}

/** Keeps the last of several components with one id, at the place of the first, as Strapi does for a request. */
function onePerId({ notes }: ValueScope, what: string, components: readonly ComponentData[]) {
  const last = new Map(
    components.map((each, at) => [`${each.__component ?? ''} ${each.id ?? `at ${at}`}`, each]),
  );
  const twice = components.length - last.size;
  if (twice > 0) notes.add(what, 'omitted: a later component of the list has the same id', undefined, twice);
  return [...last.values()];
}

function componentLinks({ staging, registry }: ValueScope, model: Model, id: number): Data {
  const owned = [...model.attributes.values()].filter((attribute) => attribute.kind === 'relation');
  if (owned.length === 0) return {};
  const links = targetsByAttribute(registry, staging.linksOf(model.uid, id));
  // The list of a target shows no components, so their links have no slot in it.
  const plain = [...links].map(([name, targets]) => [
    name,
    targets.map(({ documentId, locale }) => ({ documentId, locale })),
  ]);
  return Object.fromEntries(plain);
}

/** Returns the targets of each attribute in order. A row without versions links to both versions of an entry: this is one link here. */
export function targetsByAttribute(
  registry: SchemaRegistry,
  links: readonly LinkedRow[],
): ReadonlyMap<string, readonly ImportedTarget[]> {
  const targets = new Map<string, Map<string, ImportedTarget>>();
  for (const { attribute, targetType, documentId, locale, order, world } of links) {
    if (!registry.contentTypes.has(targetType)) continue;
    const ofAttribute = valueAt(targets, attribute, () => new Map<string, ImportedTarget>());
    const key = `${documentId} ${locale ?? ''}`;
    if (ofAttribute.has(key)) continue;
    const slot = { ...(order === null ? {} : { order }), ...defined({ world }) };
    ofAttribute.set(key, { documentId, locale, ...slot });
  }
  return new Map([...targets].map(([name, ofAttribute]) => [name, [...ofAttribute.values()]]));
}

/** Returns whether a row of the model has its links in its event. Links of components are among the values of the component. */
export function ownsRelation(model: Model, name: string): boolean {
  const attribute = isContentType(model) ? model.attributes.get(name) : undefined;
  return attribute?.kind === 'relation' && attribute.mappedBy === undefined;
}
