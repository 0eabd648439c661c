import type { AttributeWithComponents } from '../../../shared/schema/component-uids.ts';
import type { Attribute, ComponentAttribute, Model, Uid } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { componentList, componentUid, type StoredComponent, type Values } from '../store/present-row.ts';
import { convertScalar } from './convert-scalar.ts';

/** A content type or component as it was and as it is, with the components that it can contain. */
export type ModelChange = {
  readonly before: { readonly registry: SchemaRegistry; readonly model: Model };
  readonly now: { readonly registry: SchemaRegistry; readonly model: Model };
};

/** Effect of a conversion on a value that is not carried over as it is. */
export type ValueNote = {
  /** `lost`: the new definition cannot show the whole value. */
  readonly outcome: 'lost' | 'converted' | 'renamed';
  /** Component with the value, as `<uid> <id>`; '' for the row itself. */
  readonly owner: string;
  /** Uid of the content type or component that defines the attribute. */
  readonly model: Uid;
  /** Earlier name of the attribute. */
  readonly attribute: string;
  readonly value: unknown;
};

export type TakeNote = (note: ValueNote) => void;

/**
 * Returns the attribute from which one has its values: the one with its name, else the one of `pluginOptions.varve.renamedFrom`. If the
 * earlier name of a renamed attribute is back, the renaming is undone. undefined: the attribute is new.
 */
export function originOf(attribute: Attribute, { before, now }: ModelChange): Attribute | undefined {
  const { attributes } = before.model;
  const { name } = attribute;
  const known = attributes.get(name) ?? attributes.get(renamedFrom(attribute) ?? '');
  if (known !== undefined) return known;
  return [...attributes.values()].find(
    (each) => renamedFrom(each) === name && !now.model.attributes.has(each.name),
  );
}

/** Returns the earlier name of an attribute that its schema names. */
export function renamedFrom({ varve }: Attribute): string | undefined {
  const { renamedFrom: name } = (varve ?? {}) as { readonly renamedFrom?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/**
 * Converts the values of a row or component to the new definition. Drops values that it cannot show. `take` gets a note about each value
 * that is not carried over as it is.
 */
export function convertValues(
  change: ModelChange,
  values: Values,
  take: TakeNote = () => {},
  owner = '',
): Values {
  const { model } = change.before;
  const note = (outcome: ValueNote['outcome'], attribute: string) =>
    take({ outcome, owner, model: model.uid, attribute, value: values[attribute] });
  const converted: Record<string, unknown> = {};
  const lost = new Set([...model.attributes.values()].filter((each) => hasValue(each, values)));
  for (const attribute of change.now.model.attributes.values()) {
    const origin = originOf(attribute, change);
    const value = origin === undefined ? undefined : values[origin.name];
    if (origin === undefined || value === null || value === undefined) continue;
    const { kept, isWhole } = convertValue({ change, take }, origin, attribute, value);
    if (kept !== null && kept !== undefined) converted[attribute.name] = kept;
    if (!isWhole || !lost.delete(origin)) continue;
    if (origin.name !== attribute.name) note('renamed', origin.name);
    else if (kept !== value && attribute.kind === 'scalar') note('converted', origin.name);
  }
  for (const { name } of lost) note('lost', name);
  return converted;
}

/** Returns whether an attribute has a value that somebody would miss. */
function hasValue({ name, kind }: Attribute, values: Values): boolean {
  const value = values[name];
  if (value === null || value === undefined) return false;
  return kind === 'scalar' || !Array.isArray(value) || value.length > 0;
}

/** A converted value; null: nothing of it can be shown. */
type ConvertedValue = { readonly kept: unknown; readonly isWhole: boolean };

const NOTHING: ConvertedValue = { kept: null, isWhole: false };

type Conversion = { readonly change: ModelChange; readonly take: TakeNote };

function convertValue(
  conversion: Conversion,
  before: Attribute,
  now: Attribute,
  value: unknown,
): ConvertedValue {
  switch (now.kind) {
    case 'scalar': {
      const kept = before.kind === 'scalar' ? convertScalar(before.type, now, value) : null;
      return { kept, isWhole: kept !== null };
    }
    case 'component':
      if (before.kind !== 'component' || before.component !== now.component) return NOTHING;
      return ofOneOrSeveral(
        now,
        convertComponents(conversion, before, componentList(value), () => true),
      );
    case 'dynamiczone':
      if (before.kind !== 'dynamiczone') return NOTHING;
      return convertComponents(conversion, before, componentList(value), (uid) =>
        now.components.includes(uid),
      );
    case 'relation':
      return before.kind === 'relation' && before.target === now.target
        ? { kept: value, isWhole: true }
        : NOTHING;
  }
}

/** If an attribute becomes a single component, several components become none, because no rule says which one to keep. */
function ofOneOrSeveral(
  now: ComponentAttribute,
  { kept, isWhole }: ReturnType<typeof convertComponents>,
): ConvertedValue {
  if (now.repeatable) return { kept, isWhole };
  return kept.length === 1 ? { kept: kept[0], isWhole } : NOTHING;
}

function convertComponents(
  { change, take }: Conversion,
  bearer: AttributeWithComponents,
  components: readonly StoredComponent[],
  isAllowed: (uid: Uid) => boolean,
): { readonly kept: readonly StoredComponent[]; readonly isWhole: boolean } {
  const kept = components.flatMap((component) => {
    const uid = componentUid(bearer, component);
    const inner = isAllowed(uid) ? componentChange(change, uid) : undefined;
    if (inner === undefined) return [];
    const { id, __component } = component;
    const named = __component === undefined ? { id } : { __component, id };
    return [{ ...named, ...convertValues(inner, component, take, `${uid} ${id}`) } as StoredComponent];
  });
  return { kept, isWhole: kept.length === components.length };
}

/** Returns the change of a component; undefined: it no longer exists. */
export function componentChange({ before, now }: ModelChange, uid: Uid): ModelChange | undefined {
  const [was, is] = [before.registry.components.get(uid), now.registry.components.get(uid)];
  if (was === undefined || is === undefined) return undefined;
  return { before: { registry: before.registry, model: was }, now: { registry: now.registry, model: is } };
}
