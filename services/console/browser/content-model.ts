import { signal } from '@preact/signals';
import { read } from './api.ts';
import type { ShownAttribute, ShownComponent, Type } from './server.ts';
import { types } from './session.ts';

/** Components that the caller's types contain. */
const components = signal<readonly ShownComponent[]>([]);

/** Reads the components and the locales, once. */
export async function readModel(): Promise<void> {
  if (components.value.length > 0) return;
  components.value = (await read<readonly ShownComponent[]>('/api/content-type-builder/components')).data;
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
