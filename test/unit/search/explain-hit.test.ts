import { expect, it } from 'vitest';
import { createComparisonCount } from '../../../services/instant-search/ranking-info.ts';
import { createHitExplanation } from '../../../services/query/explain-hit.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { searchOf } from '../../../shared/search/search-settings.ts';
import { inSlice, SLICE_OVER } from '../../../shared/turns/slice.ts';
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

/** Explains a hit in slices that end as soon as work is counted. Returns also the comparisons and the number of slices. */
function explained(query: string, row: { readonly [attribute: string]: unknown }) {
  const { terms } = searchTerms(query, { language: languageOf('en'), typoTolerance: true });
  let comparisons = 0;
  const compare = (more: number) => {
    comparisons += more;
  };
  const explain = createHitExplanation({ fields, terms, locale: 'en', compare }, row);
  for (let slices = 1; ; slices++) {
    let time = 0;
    const ends = { restsAt: 1, haltsAt: 2, refusesAt: Infinity, refusal: () => new Error('refused') };
    try {
      const hit = inSlice({ now: () => ++time, steps: 1, ...ends }, explain);
      return { ...hit, comparisons, slices };
    } catch (error) {
      if (error !== SLICE_OVER) throw error;
    }
  }
}

it('compares the first 5,000 words of an entry, all of its texts together', () => {
  const behind = (words: number) => {
    const title = 'lighthouse '.repeat(1_000);
    return explained('harbour ', { title, text: `${'pier '.repeat(words)}harbour` }).words;
  };
  expect(behind(3_999)).toMatchObject([{ word: 'harbour', how: 'exact', attribute: 'text' }]);
  expect(behind(4_000)).toEqual([]);
});

it('compares each different word of a text once, and neighbouring words in one walk', () => {
  const text = 'harbour pier '.repeat(2_500);
  const { words, distance, comparisons, slices } = explained('pier harbour ', { text });
  expect(words).toHaveLength(20);
  expect(distance).toBe(1);
  expect(comparisons).toBeLessThan(15_000);
  expect(slices).toBeGreaterThan(5_000);
});

it.each([
  ['harbour pier', 1],
  ['pier harbour', 2],
  ['harbour at the old pier', 4],
  ['harbour harbour pier pier', 1],
  ['pier and a harbour', 4],
  ['harbour far away from this very old pier', 5],
  ['pier', 5],
])('the distance of two words in "%s" is %i', (text, distance) => {
  expect(explained('harbour pier ', { text }).distance).toBe(distance);
});

it('refuses more comparisons than a request may need', () => {
  const compare = createComparisonCount();
  compare(1_000_000);
  expect(() => compare(1)).toThrow('more than 1000000 comparisons');
});
