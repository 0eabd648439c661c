import { buildRegistry, type SchemaFile } from '../../shared/schema/build-registry.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Pages that consist of components, as sites have them. */
export const SECTIONED = 'api::page.page';
const TOPIC = 'api::topic.topic';

/** Attributes of the kinds of sections in turn. They use names for different types, and types under different names. */
const SECTIONS: readonly object[] = [
  {
    title: { type: 'string' },
    size: { type: 'integer' },
    button: one('parts.button'),
    cards: many('parts.card'),
  },
  {
    title: { type: 'integer' },
    body: { type: 'richtext' },
    price: { type: 'decimal' },
    topic: relation('oneToOne'),
  },
  {
    quote: { type: 'text' },
    size: { type: 'biginteger' },
    shown: { type: 'boolean' },
    on: { type: 'date' },
    rows: many('parts.row'),
    topics: relation('oneToMany'),
  },
];

/** Returns the registry of pages with a dynamic zone of this many components. */
export function sectionsRegistry(components: number): SchemaRegistry {
  const kinds = Array.from({ length: components }, (_, n) => `sections.kind${n}`);
  return registryOf({ sections: { type: 'dynamiczone', components: kinds } }, [
    ...kinds.map((uid, n) => part(uid, SECTIONS[n % SECTIONS.length] ?? {})),
    part('parts.button', { label: { type: 'string' }, topic: relation('oneToOne'), icon: one('parts.icon') }),
    part('parts.icon', { name: { type: 'string' }, width: { type: 'decimal' } }),
    part('parts.card', {
      title: { type: 'string' },
      price: { type: 'decimal' },
      topic: relation('oneToOne'),
    }),
    part('parts.row', { name: { type: 'string' }, cells: many('parts.cell') }),
    part('parts.cell', { text: { type: 'string' }, at: { type: 'datetime' } }),
  ]);
}

/** Returns the registry of pages with this many lists of components with lists in them. */
export function manyListsRegistry(lists: number): SchemaRegistry {
  const attributes = Array.from({ length: lists }, (_, n) => [`list${n}`, many('parts.row')] as const);
  return registryOf(Object.fromEntries(attributes), [
    part('parts.row', { cells: many('parts.cell') }),
    part('parts.cell', { text: { type: 'string' } }),
  ]);
}

function registryOf(attributes: object, components: readonly SchemaFile[]): SchemaRegistry {
  const { registry, problems } = buildRegistry([
    type('page', { title: { type: 'string' }, ...attributes }),
    type('topic', { name: { type: 'string' } }),
    ...components,
  ]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return registry;
}

function type(name: string, attributes: object): SchemaFile {
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const json = { kind: 'collectionType', info, options: { draftAndPublish: false }, attributes };
  return { model: 'contentType', file: name, namespace: `api::${name}`, json };
}

function part(uid: string, attributes: object): SchemaFile {
  return { model: 'component', file: uid, uid, json: { info: { displayName: uid }, attributes } };
}

function one(component: string): object {
  return { type: 'component', component, repeatable: false };
}

function many(component: string): object {
  return { type: 'component', component, repeatable: true };
}

function relation(kind: string): object {
  return { type: 'relation', relation: kind, target: TOPIC };
}
