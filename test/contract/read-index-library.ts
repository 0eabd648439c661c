import { columnValue } from '../../shared/read-index/column.ts';
import type { FieldValues, IndexedComponent, IndexedRow } from '../../shared/read-index/read-index.ts';
import { buildRegistry, type SchemaFile } from '../../shared/schema/build-registry.ts';
import type { Model, Uid } from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

/** A small library with every attribute type and every kind of relation, for tests of read indices. */
export const BOOK: Uid = 'api::book.book';
export const AUTHOR: Uid = 'api::author.author';
export const TAG: Uid = 'api::tag.tag';
export const TOWN: Uid = 'api::town.town';
export const PAGE: Uid = 'api::page.page';

const relation = (kind: string, target: Uid, side: object = {}) => ({
  type: 'relation',
  relation: kind,
  target,
  ...side,
});
const component = (uid: Uid, repeatable: boolean) => ({ type: 'component', component: uid, repeatable });

const BOOK_ATTRIBUTES = {
  title: { type: 'string' },
  body: { type: 'text' },
  story: { type: 'richtext' },
  contact: { type: 'email' },
  slug: { type: 'uid' },
  genre: { type: 'enumeration', enum: ['novel', 'essay', 'poem'] },
  pages: { type: 'integer' },
  copies: { type: 'biginteger' },
  price: { type: 'decimal' },
  weight: { type: 'float' },
  inPrint: { type: 'boolean' },
  released: { type: 'date' },
  opensAt: { type: 'time' },
  soldAt: { type: 'datetime' },
  notes: { type: 'json' },
  blocks: { type: 'blocks' },
  secret: { type: 'string', private: true },
  cover: component('lib.cover', false),
  chapters: component('lib.chapter', true),
  extras: { type: 'dynamiczone', components: ['lib.cover', 'lib.quote'] },
  author: relation('manyToOne', AUTHOR, { inversedBy: 'books' }),
  tags: relation('manyToMany', TAG, { inversedBy: 'books' }),
  sequel: relation('oneToOne', BOOK, { inversedBy: 'prequel' }),
  prequel: relation('oneToOne', BOOK, { mappedBy: 'sequel' }),
  related: relation('oneToMany', BOOK),
};

const SYNONYMS = [
  ['nyc', 'New York City', 'Big Apple'],
  ['town', 'burgh'],
  ['bicycle', 'two wheelers'],
  { from: ['vehicle', 'sets of wheels'], to: ['bicycle', 'steam tram'] },
];

const TYPES = [
  type('book', true, BOOK_ATTRIBUTES),
  type('author', true, {
    name: { type: 'string' },
    books: relation('oneToMany', BOOK, { mappedBy: 'author' }),
    home: relation('manyToOne', TOWN, { inversedBy: 'authors' }),
  }),
  type('tag', false, {
    name: { type: 'string' },
    weight: { type: 'float' },
    books: relation('manyToMany', BOOK, { mappedBy: 'tags' }),
    best: relation('manyToOne', BOOK),
  }),
  type(
    'town',
    false,
    { name: { type: 'string' }, authors: relation('oneToMany', AUTHOR, { mappedBy: 'home' }) },
    { varve: { search: { synonyms: { '*': SYNONYMS } } } },
  ),
  type('page', true, { title: { type: 'string' } }, { i18n: { localized: true } }),
];

const COMPONENTS = [
  part('lib.cover', {
    color: { type: 'string' },
    depth: { type: 'integer' },
    artist: relation('oneToOne', AUTHOR),
    swatches: component('lib.swatch', true),
  }),
  part('lib.chapter', {
    heading: { type: 'string' },
    length: { type: 'integer' },
    about: relation('oneToMany', TAG),
  }),
  part('lib.swatch', { name: { type: 'string' } }),
  part('lib.quote', {
    text: { type: 'text' },
    source: relation('oneToOne', BOOK),
    frame: component('lib.frame', false),
  }),
  part('lib.frame', {
    style: { type: 'string' },
    width: { type: 'decimal' },
    maker: relation('oneToOne', AUTHOR),
    swatches: component('lib.swatch', true),
  }),
];

function type(
  name: string,
  draftAndPublish: boolean,
  attributes: object,
  pluginOptions: object = {},
): SchemaFile {
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const json = { kind: 'collectionType', info, options: { draftAndPublish }, pluginOptions, attributes };
  return { model: 'contentType', file: name, namespace: `api::${name}`, json };
}

function part(uid: Uid, attributes: object): SchemaFile {
  return { model: 'component', file: uid, uid, json: { info: { displayName: uid }, attributes } };
}

export function libraryRegistry(): SchemaRegistry {
  const { registry, problems } = buildRegistry([...TYPES, ...COMPONENTS]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return registry;
}

/** Values of a row in the form of answers. Only `id` is required. */
export type Values = { readonly id: number; readonly [field: string]: unknown };

const utf8 = new TextEncoder();

/** Returns a row whose source is its values. */
export function row(
  registry: SchemaRegistry,
  uid: Uid,
  values: Values,
  components: IndexedRow['components'] = {},
): IndexedRow {
  const fields = { ...fieldsOf(contentTypeOf(registry, uid), values), ...dollarFields(values) };
  return { source: utf8.encode(JSON.stringify(values)), fields, components };
}

/** Returns a component whose key is its id. */
export function componentRow(
  registry: SchemaRegistry,
  uid: Uid,
  values: Values,
  components: IndexedRow['components'] = {},
): IndexedComponent {
  const fields = fieldsOf(componentOf(registry, uid), values);
  return { component: uid, key: values.id, source: utf8.encode(JSON.stringify(values)), fields, components };
}

function fieldsOf(model: Model, values: Values): FieldValues {
  const fields: { [field: string]: FieldValues[string] } = {};
  for (const [name, attribute] of queryableScalars(model))
    fields[name] = columnValue(attribute.type, values[name]);
  return fields;
}

function dollarFields(values: Values): FieldValues {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name.startsWith('$'))) as FieldValues;
}

export function decode(source: Uint8Array): Values {
  return JSON.parse(new TextDecoder().decode(source)) as Values;
}
