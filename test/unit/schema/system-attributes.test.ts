import { expect, test } from 'vitest';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { BUILT_IN_TYPES } from '../../../shared/schema/built-in-types.ts';
import { FILE_TYPE, USER_TYPE } from '../../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, routeNameOf } from '../../../shared/schema/schema-registry.ts';
import { localizationsAttribute, queryableScalars } from '../../../shared/schema/system-attributes.ts';

const attributes = {
  name: { type: 'string' },
  secret: { type: 'password' },
  note: { type: 'text', private: true },
  cover: { type: 'media' },
  size: { type: 'integer' },
};
const i18n = { pluginOptions: { i18n: { localized: true } } };

const { registry } = buildRegistry([
  { model: 'component', file: 'c', uid: 'x.part', json: { attributes } },
  {
    model: 'contentType',
    file: 'a',
    namespace: 'api::a',
    json: { info: { singularName: 'a', pluralName: 'as' }, attributes },
  },
  {
    model: 'contentType',
    file: 'b',
    namespace: 'api::b',
    json: { info: { singularName: 'b', pluralName: 'bs' }, attributes, ...i18n },
  },
]);

test('queryable scalars are the public ones and the system attributes, in the order of an answer', () => {
  const types = (uid: string) =>
    [...queryableScalars(contentTypeOf(registry, uid)).values()].map(({ name, type }) => `${name} ${type}`);
  const plain = [
    'id integer',
    'documentId string',
    'name string',
    'size integer',
    'createdAt datetime',
    'updatedAt datetime',
    'publishedAt datetime',
  ];
  expect(types('api::a.a')).toEqual(plain);
  expect(types('api::b.b')).toEqual([...plain, 'locale string']);
  expect([...queryableScalars(componentOf(registry, 'x.part')).keys()]).toEqual(['id', 'name', 'size']);
});

test('queryable scalars are computed once per model', () => {
  const type = contentTypeOf(registry, 'api::b.b');
  expect(queryableScalars(type)).toBe(queryableScalars(type));
  expect(localizationsAttribute(type)).toBe(localizationsAttribute(type));
});

test('only localized types have localizations, a list of their own type', () => {
  expect(localizationsAttribute(contentTypeOf(registry, 'api::a.a'))).toBeUndefined();
  expect(localizationsAttribute(contentTypeOf(registry, 'api::b.b'))).toMatchObject({
    kind: 'relation',
    relation: 'oneToMany',
    target: 'api::b.b',
    toMany: true,
  });
});

test('users and files always exist, and secrets of a user are private', () => {
  expect(BUILT_IN_TYPES.map((type) => [type.uid, type.builtIn, routeNameOf(type)])).toEqual([
    [USER_TYPE, true, 'users'],
    [FILE_TYPE, true, 'files'],
  ]);
  const user = contentTypeOf(registry, USER_TYPE);
  const hidden = [...user.attributes.values()].filter((attribute) => attribute.private);
  expect(hidden.map(({ name }) => name)).toEqual([
    'password',
    'resetPasswordToken',
    'confirmationToken',
    'role',
    'varveLogin',
  ]);
  expect([...queryableScalars(user).keys()].slice(2, 7)).toEqual([
    'username',
    'email',
    'provider',
    'confirmed',
    'blocked',
  ]);
});
