import { signal } from '@preact/signals';
import { read, token } from './api.ts';
import { asOf } from './route.ts';
import type { CallerRights, ShownAttribute, ShownComponent, Type } from './server.ts';
import { types } from './session.ts';

/** Components that the caller's types contain. */
const components = signal<readonly ShownComponent[]>([]);

/** Rights of the caller on content; null until it is read. */
export const callerRights = signal<CallerRights | null>(null);

/** Token with which the model was read. */
let readBy: string | null = null;

/** Reads the components and the rights of the caller, once for each caller. */
export async function readModel(): Promise<void> {
  if (callerRights.value !== null && readBy === token.value) return;
  const [found, rights] = await Promise.all([
    read<readonly ShownComponent[]>('/api/content-type-builder/components'),
    read<CallerRights>('/_varve/rights'),
  ]);
  readBy = token.value;
  components.value = found.data;
  callerRights.value = rights.data;
}

/** Returns whether the caller may do something with entries of a type. Nothing changes the past. */
export function mayDo({ uid }: { readonly uid: string }, action: string): boolean {
  if (asOf() !== undefined && !action.startsWith('find')) return false;
  return callerRights.value?.types[uid]?.includes(action) === true;
}

/** Returns the attributes of a component, with those that no answer has. */
export function componentNamed(uid: string): Readonly<Record<string, ShownAttribute>> {
  const found = components.value.find((each) => each.uid === uid)?.schema.attributes;
  return { ...found, ...hiddenIn(uid) };
}

/** Returns the title of a component for people. */
export function componentTitle(uid: string): string {
  return components.value.find((each) => each.uid === uid)?.schema.displayName ?? uid;
}

/** Returns the attributes that a write of an entry may have. */
export function writtenAttributes({ uid, schema }: Type): Readonly<Record<string, ShownAttribute>> {
  return { ...schema.attributes, ...hiddenIn(uid) };
}

function hiddenIn(uid: string): Readonly<Record<string, ShownAttribute>> {
  const hidden = Object.entries(callerRights.value?.writeOnly[uid] ?? {});
  return Object.fromEntries(hidden.map(([name, attribute]) => [name, { ...attribute, isHidden: true }]));
}

/** Returns the attribute that names an entry: its first text. */
export function titleName({ schema }: Type): string | undefined {
  return Object.keys(schema.attributes).find((name) => schema.attributes[name]?.type === 'string');
}

/** Returns the name of an entry for people: its first text, or its documentId. */
export function titleOf({ schema }: Type, row: Readonly<Record<string, unknown>>): string {
  const name = Object.keys(schema.attributes).find(
    (each) => schema.attributes[each]?.type === 'string' && row[each],
  );
  return String(name === undefined ? row['documentId'] : row[name]);
}

/** Types that have entries of their own: users and files have other endpoints. */
export function contentTypes(): readonly Type[] {
  return types.value
    .filter(({ plugin }) => plugin === undefined)
    .toSorted((a, b) => a.schema.displayName.localeCompare(b.schema.displayName));
}

/** Returns the type whose entries have this path. */
export function typeAt(name: string): Type | undefined {
  return contentTypes().find((type) => pathName(type) === name);
}

/** Returns the last segment of the path of a type: `articles`, or `homepage` for a single type. */
export function pathName({ schema }: Type): string {
  return schema.kind === 'singleType' ? schema.singularName : schema.pluralName;
}

/** Returns whether the entries of a type have locales. */
export function isLocalized({ schema }: Type): boolean {
  return schema.pluginOptions?.i18n?.localized === true;
}

/** Attributes that every entry has. */
const OWN: Readonly<Record<string, ShownAttribute>> = {
  documentId: { type: 'string' },
  id: { type: 'integer' },
  createdAt: { type: 'datetime' },
  updatedAt: { type: 'datetime' },
  publishedAt: { type: 'datetime' },
};

/** Returns the attributes that a filter can name after a path: those of the type, of a related type, or of a component. */
export function attributesAt(type: Type, path: readonly string[]): Readonly<Record<string, ShownAttribute>> {
  let shown: Readonly<Record<string, ShownAttribute>> = { ...type.schema.attributes, ...OWN };
  for (const name of path) {
    const attribute = shown[name];
    const next = attribute && insideOf(attribute);
    if (next === undefined) return {};
    shown = next;
  }
  return shown;
}

/** Returns the attributes behind a relation or in a component; undefined for a value. */
export function insideOf({
  type,
  target,
  component,
}: ShownAttribute): Readonly<Record<string, ShownAttribute>> | undefined {
  if (type === 'relation') {
    const found = types.value.find(({ uid }) => uid === target);
    return found && { ...found.schema.attributes, ...OWN };
  }
  if (type === 'component') return components.value.find(({ uid }) => uid === component)?.schema.attributes;
  return undefined;
}

/** Types of attributes that fit into a cell, and by which a list can be sorted. */
const CELLS = [
  'string',
  'text',
  'email',
  'uid',
  'enumeration',
  'integer',
  'biginteger',
  'decimal',
  'float',
  'boolean',
  'date',
  'datetime',
  'time',
];

/** Returns the names of the attributes that a list shows. */
export function columnsOf(type: Type): readonly string[] {
  const values = Object.entries(type.schema.attributes)
    .filter(([, attribute]) => CELLS.includes(attribute.type))
    .map(([name]) => name);
  return [...values.slice(0, 5), 'updatedAt'];
}
