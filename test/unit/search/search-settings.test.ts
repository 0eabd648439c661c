import { expect, it } from 'vitest';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { searchSettingsOf } from '../../../shared/search/search-settings.ts';
import { synonymsIn } from '../../../shared/search/synonyms.ts';

function built(attributes: object, pluginOptions: object = {}) {
  return buildRegistry([
    {
      ...({ model: 'contentType', file: 'dish.json', namespace: 'api::dish' } as const),
      json: {
        kind: 'collectionType',
        info: { singularName: 'dish', pluralName: 'dishes', displayName: 'Dish' },
        ...{ attributes, pluginOptions },
      },
    },
  ]);
}

const searched = (search: unknown) => ({ pluginOptions: { varve: { search } } });

it('searches public texts with the options of the schema', () => {
  const { registry, problems } = built(
    {
      name: { type: 'string' },
      secret: { type: 'string', private: true },
      text: { type: 'richtext', ...searched({ weight: 5, typoTolerance: false }) },
      code: { type: 'string', ...searched({ as: 'keyword' }) },
      hidden: { type: 'text', searchable: false },
      left: { type: 'text', ...searched({ as: 'none' }) },
      price: { type: 'decimal' },
    },
    { varve: { search: { locale: 'de', synonyms: { '*': [['Pommes', 'Fritten']] } } } },
  );
  expect(problems).toEqual([]);
  const settings = searchSettingsOf(contentTypeOf(registry, 'api::dish.dish'));
  const { fields, locale } = settings;
  expect(fields.map(({ name, weight, kind }) => [name, weight, kind])).toEqual([
    ['name', 2, 'text'],
    ['text', 5, 'spelled'],
    ['code', 2, 'keyword'],
  ]);
  expect(locale).toBe('de');
  expect(
    synonymsIn(settings.synonyms, 'de')
      ?.words.get('fritt')
      ?.map(({ folded }) => folded),
  ).toEqual(['pommes']);
});

it('reports wrong options with their paths', () => {
  const { problems } = built(
    { name: { type: 'string', ...searched({ weight: 'heavy', as: 'words' }) } },
    { varve: { search: { synonyms: { en: [['one'], ['six words are more than five', 'x']] }, boost: 1 } } },
  );
  expect(problems.map(({ path }) => path)).toEqual([
    '$.pluginOptions.varve.search.synonyms.en[0]',
    '$.pluginOptions.varve.search.synonyms.en[1][0]',
    '$.pluginOptions.varve.search',
    '$.attributes.name.pluginOptions.varve.search.weight',
    '$.attributes.name.pluginOptions.varve.search.as',
  ]);
});
