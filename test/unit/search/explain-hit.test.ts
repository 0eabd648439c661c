import { expect, it } from 'vitest';
import { explainHit } from '../../../services/query/explain-hit.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { searchOf } from '../../../shared/search/search-settings.ts';
import { searchTerms } from '../../support/typed-terms.ts';

const PAGE: Uid = 'api::page.page';
const json = {
  kind: 'collectionType',
  info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
  attributes: { title: { type: 'string' }, text: { type: 'text' } },
};
const { registry } = buildRegistry([
  { model: 'contentType', file: 'page.json', namespace: 'api::page', json },
]);
const { fields } = searchOf(registry, PAGE);
const { terms } = searchTerms('harbour ', { language: languageOf('en'), typoTolerance: true });

it('compares the first 5,000 words of an entry, all of its texts together', () => {
  const behind = (words: number) => {
    const title = 'lighthouse '.repeat(1_000);
    return explainHit(fields, terms, { title, text: `${'pier '.repeat(words)}harbour` }, 'en').words;
  };
  expect(behind(3_999)).toMatchObject([{ word: 'harbour', how: 'exact', attribute: 'text' }]);
  expect(behind(4_000)).toEqual([]);
});
