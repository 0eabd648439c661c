import { describe, expect, it } from 'vitest';
import { planList } from '../../../services/query/plan-query.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { searchOf } from '../../../shared/search/search-settings.ts';

const DISH = 'api::dish.dish';
const CITY = 'api::city.city';

const type = (singularName: string, attributes: object, pluginOptions: object = {}) => ({
  ...({ model: 'contentType', file: `${singularName}.json`, namespace: `api::${singularName}` } as const),
  json: {
    kind: 'collectionType',
    info: { singularName, pluralName: `${singularName}s`, displayName: singularName },
    ...{ attributes, pluginOptions },
  },
});

function built(through: readonly string[]) {
  return buildRegistry([
    type('city', {
      name: { type: 'string' },
      code: { type: 'string', pluginOptions: { varve: { search: { as: 'keyword' } } } },
      secret: { type: 'string', private: true },
      size: { type: 'integer' },
    }),
    type(
      'dish',
      { name: { type: 'string' }, city: { type: 'relation', relation: 'manyToOne', target: CITY } },
      { varve: { search: { through } } },
    ),
  ]);
}

describe('texts of related rows', () => {
  it('are searched with the options of their attributes, with weight 1', () => {
    const { registry, problems } = built(['city.name', 'city.code', 'city.name']);
    expect(problems).toEqual([]);
    const { fields } = searchOf(registry, DISH);
    expect(fields.map(({ name, path, weight, kind }) => [name, path, weight, kind])).toEqual([
      ['name', [], 2, 'text'],
      ['city.name', ['city'], 1, 'text'],
      ['city.code', ['city'], 1, 'keyword'],
    ]);
  });

  it.each(['city.secret', 'city.size', 'town.name', 'city'])('cannot be %s', (path) => {
    expect(built([path]).problems.map((problem) => problem.path)).toEqual([
      '$.pluginOptions.varve.search.through[0]',
    ]);
  });

  it('are searched only for callers that may find the related type', () => {
    const { registry } = built(['city.name']);
    const fieldsFor = (mayFind?: (uid: string) => boolean) =>
      planList({
        ...{ registry, type: contentTypeOf(registry, DISH), queryString: 'search=rome', defaultLocale: 'en' },
        ...(mayFind && { mayFind }),
      }).search.text?.fields;
    expect([...(fieldsFor() ?? [])]).toEqual(['name', 'city.name']);
    expect([...(fieldsFor((uid) => uid !== CITY) ?? [])]).toEqual(['name']);
  });
});
