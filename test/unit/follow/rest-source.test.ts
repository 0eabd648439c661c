import { expect, it } from 'vitest';
import { createRestSource } from '../../../services/follow/rest-source.ts';
import type { StrapiHttp } from '../../../services/follow/strapi-http.ts';
import { schemasOf } from '../command-world.ts';

const { registry } = schemasOf({ tag: { attributes: { name: { type: 'string' } } } });
const localeOf = (answer: unknown) => {
  const http: Pick<StrapiHttp, 'json'> = { json: async () => answer };
  return createRestSource(http as StrapiHttp, registry, 'en').defaultLocale();
};

it.each([[{ data: [] }], ['<html>'], [[null]], [[{ name: 'English' }]], [{}]])(
  'refuses locales that are not a list: %j',
  async (answer) => {
    await expect(localeOf(answer)).rejects.toThrow("/i18n/locales: Strapi's answer is not a list of locales");
  },
);

it('reads the default locale, and none where Strapi shows no locales', async () => {
  expect(await localeOf([{ code: 'fr' }, { code: 'de', isDefault: true }])).toBe('de');
  expect(await localeOf(undefined)).toBeUndefined();
});
