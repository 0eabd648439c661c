import { expect, test } from 'vitest';
import { buildRegistry, type SchemaFile } from '../../../shared/schema/build-registry.ts';
import { type Attribute, SCALAR_TYPES } from '../../../shared/schema/content-type.ts';
import { problemLine } from '../../../shared/schema/schema-problem.ts';

type Attributes = { readonly [name: string]: unknown };

function thing(attributes: Attributes, more: object = {}): SchemaFile {
  const json = { info: { singularName: 'thing', pluralName: 'things' }, attributes, ...more };
  return { model: 'contentType', file: 'thing.json', namespace: 'api::thing', json };
}

/** Parses a type, and returns its attributes. */
function parsed(
  attributes: Attributes,
  more: object = {},
  ...files: readonly SchemaFile[]
): ReadonlyMap<string, Attribute> {
  const { registry, problems } = buildRegistry([thing(attributes, more), ...files]);
  expect(problems.map(problemLine)).toEqual([]);
  return registry.contentTypes.get('api::thing.thing')?.attributes ?? new Map();
}

/** Properties of an attribute of which the schema only has the type. */
const plain = { private: false, required: false, configurable: true, localized: true };
const plainScalar = { ...plain, kind: 'scalar', unique: false, searchable: true };

test.each(SCALAR_TYPES)('%s needs only its type', (type) => {
  const values = type === 'enumeration' ? { enum: ['a'] } : {};
  const attribute = parsed({ a: { type, ...values } }).get('a');
  expect(attribute).toEqual({ ...plainScalar, name: 'a', type, private: type === 'password', ...values });
});

test('options of scalars are kept, 64-bit ones as decimal text; other keys are accepted and dropped', () => {
  const attributes = parsed({
    code: {
      type: 'string',
      required: true,
      unique: true,
      private: true,
      configurable: false,
      searchable: false,
      default: 'x',
      minLength: 1,
      maxLength: 9,
      regex: '^[a-z]+$',
      column: { defaultTo: 1 },
      min: 'not a string option',
    },
    big: { type: 'biginteger', min: -5, max: '09223372036854775807', default: 7 },
    ratio: { type: 'float', min: 0.5, max: 1.5, default: 1 },
    slug: { type: 'uid', targetField: 'code' },
    tagged: { type: 'json', pluginOptions: { varve: { erase: 'me' }, other: {} } },
  });
  expect(Object.fromEntries(attributes)).toEqual({
    code: {
      kind: 'scalar',
      name: 'code',
      type: 'string',
      required: true,
      unique: true,
      private: true,
      configurable: false,
      searchable: false,
      localized: true,
      default: 'x',
      minLength: 1,
      maxLength: 9,
      regex: '^[a-z]+$',
    },
    big: {
      ...plainScalar,
      name: 'big',
      type: 'biginteger',
      min: '-5',
      max: '9223372036854775807',
      default: '7',
    },
    ratio: { ...plainScalar, name: 'ratio', type: 'float', min: 0.5, max: 1.5, default: 1 },
    slug: { ...plainScalar, name: 'slug', type: 'uid', targetField: 'code' },
    tagged: { ...plainScalar, name: 'tagged', type: 'json', varve: { erase: 'me' } },
  });
});

test('relations of every kind, media, components and zones are parsed', () => {
  const target = 'api::thing.thing';
  const relation = { type: 'relation', target };
  const place: SchemaFile = { model: 'component', file: 'p.json', uid: 'x.place', json: { attributes: {} } };
  const attributes = parsed(
    {
      partner: { ...relation, relation: 'oneToOne' },
      parent: { ...relation, relation: 'manyToOne', inversedBy: 'children' },
      children: { ...relation, relation: 'oneToMany', mappedBy: 'parent' },
      similar: { ...relation, relation: 'manyToMany' },
      cover: { type: 'media' },
      gallery: { type: 'media', multiple: true, allowedTypes: ['images'], required: true },
      place: { type: 'component', component: 'x.place', required: true },
      places: { type: 'component', component: 'x.place', repeatable: true, min: 1, max: 3 },
      zone: { type: 'dynamiczone', components: ['x.place'], max: 9 },
    },
    {},
    place,
  );
  const file = { kind: 'relation', target: 'plugin::upload.file' };
  const everything = ['images', 'files', 'videos', 'audios'];
  expect([...attributes.values()]).toEqual([
    { ...plain, name: 'partner', kind: 'relation', relation: 'oneToOne', target, toMany: false },
    {
      ...plain,
      name: 'parent',
      kind: 'relation',
      relation: 'manyToOne',
      target,
      toMany: false,
      inversedBy: 'children',
    },
    {
      ...plain,
      name: 'children',
      kind: 'relation',
      relation: 'oneToMany',
      target,
      toMany: true,
      mappedBy: 'parent',
    },
    { ...plain, name: 'similar', kind: 'relation', relation: 'manyToMany', target, toMany: true },
    {
      ...plain,
      ...file,
      name: 'cover',
      relation: 'manyToOne',
      toMany: false,
      media: { multiple: false, allowedTypes: everything },
    },
    {
      ...plain,
      ...file,
      name: 'gallery',
      required: true,
      relation: 'manyToMany',
      toMany: true,
      media: { multiple: true, allowedTypes: ['images'] },
    },
    { ...plain, name: 'place', required: true, kind: 'component', component: 'x.place', repeatable: false },
    { ...plain, name: 'places', kind: 'component', component: 'x.place', repeatable: true, min: 1, max: 3 },
    { ...plain, name: 'zone', kind: 'dynamiczone', components: ['x.place'], max: 9 },
  ]);
});

const OWN = { pluginOptions: { i18n: { localized: true } } };
const SHARED = { pluginOptions: { i18n: { localized: false } } };

test('an attribute of a localized type is shared by default; a relation or uid is never shared', () => {
  const relation = { type: 'relation', relation: 'oneToOne', target: 'api::thing.thing' };
  const attributes = {
    silent: { type: 'string' },
    own: { type: 'string', ...OWN },
    shared: { type: 'string', ...SHARED },
    relation,
    sharedRelation: { ...relation, ...SHARED },
    uid: { type: 'uid', ...SHARED },
    media: { type: 'media' },
    ownMedia: { type: 'media', ...OWN },
    zone: { type: 'dynamiczone', components: [] },
    ownZone: { type: 'dynamiczone', components: [], ...OWN },
  };
  const localizedNames = (more: object) =>
    [...parsed(attributes, more).values()].filter(({ localized }) => localized).map(({ name }) => name);
  expect(localizedNames(OWN)).toEqual(['own', 'relation', 'sharedRelation', 'uid', 'ownMedia', 'ownZone']);
  expect(localizedNames({})).toEqual(Object.keys(attributes));
  expect(localizedNames(SHARED)).toEqual(Object.keys(attributes));
});

test('a custom field has the type of its schema, and is refused without one', () => {
  const field = (customField: string, varve?: unknown) => ({
    type: 'customField',
    customField,
    ...(varve === undefined ? {} : { pluginOptions: { varve } }),
  });
  const files = [
    thing({
      colour: field('plugin::color-picker.color'),
      place: { ...field('plugin::map.place', { type: 'json' }), required: true },
      other: field('plugin::map.other'),
      bad: { ...field('plugin::map.bad', { type: 'string' }), maxLength: 'x' },
    }),
  ];
  const { registry, problems } = buildRegistry(files);
  expect(problems.map(problemLine)).toEqual([
    'thing.json $.attributes.other.customField: the type of custom field "plugin::map.other" is unknown: set its stored scalar type in pluginOptions.varve.type',
    'thing.json $.attributes.bad.maxLength: expected number, received string',
  ]);
  const attributes = registry.contentTypes.get('api::thing.thing')?.attributes;
  expect(attributes?.get('colour')).toMatchObject({ kind: 'scalar', type: 'string' });
  expect(attributes?.get('place')).toMatchObject({
    kind: 'scalar',
    type: 'json',
    required: true,
    varve: { type: 'json' },
  });
});
