import { expect, it } from 'vitest';
import { vocabularyTokens } from '../../../shared/read-index/elasticsearch/layout/word-tokens.ts';
import { termPattern } from '../../../shared/read-index/elasticsearch/read/word-patterns.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { indexedWord, matchWord } from '../../../shared/search/match-word.ts';
import { allowAnotherTypo } from '../../../shared/search/search-terms.ts';
import { createRandom } from '../../bench/embedded-data.ts';
import { corrupt } from '../../bench/typos.ts';
import { searchTerms } from '../../support/typed-terms.ts';

const language = languageOf('en');
const ROUNDS = 200;

it('lists, for Elasticsearch, every word that a term matches', () => {
  const random = createRandom(7);
  let matched = 0;
  for (const typed of ['bound', 'layers', 'mexican', 'aerodynamics', 'boundaries']) {
    const [term] = searchTerms(`${typed} `, { language, typoTolerance: true }).terms;
    if (term === undefined) throw new Error(typed);
    for (const asked of [term, allowAnotherTypo(term) ?? term]) {
      const pattern = new RegExp(`^(${termPattern('en', asked)})$`, 'u');
      const near = Array.from({ length: ROUNDS }, (_, i) => corrupt(typed, i % 2 === 0 ? 1 : 2, random));
      for (const key of ['bold', ...near]) {
        const word = { ...indexedWord(language, key, 'text'), key };
        if (matchWord(asked, word) === undefined) continue;
        matched++;
        const isListed = vocabularyTokens('en', word).some((token) => pattern.test(token));
        expect(isListed, `${key} for ${asked.typed}`).toBe(true);
      }
    }
  }
  expect(matched).toBeGreaterThan(ROUNDS);
});
