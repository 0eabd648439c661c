import { describe, expect, it } from 'vitest';
import { shapeChanges } from '../../projections/generations/shape.ts';
import type { Json } from '../../shared/json.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

type Parts = {
  readonly attributes?: object;
  readonly options?: object;
  readonly more?: object;
  readonly geo?: object;
};

function definition({
  attributes = {},
  options = {},
  more = {},
  geo = { lat: { type: 'float' } },
}: Parts): TypeDefinition {
  const place = { type: 'component', component: 'common.geo', repeatable: false };
  const schema = {
    kind: 'collectionType',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    options: { draftAndPublish: true, ...options },
    attributes: { title: { type: 'string' }, place, ...attributes },
    ...more,
  };
  const components = { 'common.geo': { info: { displayName: 'geo' }, attributes: geo } };
  return { uid: 'api::page.page', schema, components, defaultLocale: 'en' } as unknown as TypeDefinition & {
    schema: Json;
  };
}

const changes = (before: Parts, now: Parts) => shapeChanges(definition(before), definition(now));

describe('a change that needs no conversion of rows', () => {
  it.each([
    ['nothing', {}, {}],
    ['an attribute that is added', {}, { attributes: { more: { type: 'integer' } } }],
    [
      'a rule for what is written',
      {},
      { attributes: { title: { type: 'string', required: true, maxLength: 5 } } },
    ],
    [
      'an attribute that is added to a component',
      {},
      { geo: { lat: { type: 'float' }, lon: { type: 'float' } } },
    ],
  ] as const)('%s', (_what, before, now) => {
    expect(changes(before, now)).toEqual([]);
  });
});

describe('a change that needs a conversion of rows', () => {
  const text = { title: { type: 'string' } };
  it.each([
    ['an attribute that is removed', { attributes: { more: text.title } }, {}, 'more was removed or renamed'],
    ['a type', {}, { attributes: { title: { type: 'integer' } } }, 'title has another type'],
    ['privacy', {}, { attributes: { title: { type: 'string', private: true } } }, 'title has another type'],
    ['draft & publish', {}, { options: { draftAndPublish: false } }, 'draft & publish was turned off'],
    ['locales', {}, { more: { pluginOptions: { i18n: { localized: true } } } }, 'locales were turned on'],
    ['a component', {}, { geo: { lat: { type: 'string' } } }, 'component common.geo: lat has another type'],
  ] as const)('%s', (_what, before, now, message) => {
    expect(changes(before, now)).toContain(`api::page.page: ${message}`);
  });
});
