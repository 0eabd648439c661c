import { expect, it } from 'vitest';
import { createMarker, escapeHtml, highlight } from '../../../shared/search/highlight.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { searchTerms } from '../../../shared/search/search-terms.ts';

const english = languageOf('en');

function marked(text: string, query: string, snippet?: number): string {
  const { terms } = searchTerms(query, { language: english, typoTolerance: true });
  const marks = createMarker({ language: english, terms, kind: 'text' })(text);
  const style = { before: '[', after: ']', escape: escapeHtml };
  return highlight(text, marks, 'en', snippet === undefined ? style : { ...style, snippet });
}

it.each([
  ['Heat transfer in boundary layers', 'layer ', 'Heat transfer in boundary [layers]'],
  ['Heat transfer in boundary layers', 'bound', 'Heat transfer in [bound]ary layers'],
  ['Heat transfer', 'haeting ', 'Heat transfer'],
  ['The boundary', 'bonudary ', 'The [boundary]'],
  ['Crème brûlée & <b>café</b>', 'cafe', 'Crème brûlée &amp; &lt;b&gt;[café]&lt;/b&gt;'],
  ['Nothing of it', 'else', 'Nothing of it'],
  ['A Sun flower, a sunflower', 'sunflower ', 'A [Sun] [flower], a [sunflower]'],
  ['sun and flower sun', 'sunflower ', 'sun and flower sun'],
  ['Die Müller-Straße', 'mullerstrasse ', 'Die [Müller]-[Straße]'],
  ['sun flower', 'sunflower sun ', '[sun] [flower]'],
  ['daylight', 'day lig', '[daylight]'],
])('%s: %s', (text, query, expected) => {
  expect(marked(text, query)).toBe(expected);
});

it('returns the words with the most distinct matches', () => {
  const text = 'one heat two three four five six heat and flow seven eight nine ten';
  expect(marked(text, 'heat flow', 6)).toBe('…five six [heat] and [flow] seven…');
  expect(marked(text, 'nowhere', 3)).toBe('one heat two…');
  expect(marked(text, 'ten', 3)).toBe('…eight nine [ten]');
});
