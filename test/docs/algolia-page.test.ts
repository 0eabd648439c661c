import { expect, it } from 'vitest';
import { algoliaPage } from './algolia-page.ts';

it('docs/algolia-parameters.md equals the table of parameters', async () => {
  await expect(algoliaPage()).toMatchFileSnapshot('../../docs/algolia-parameters.md');
});
