import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMarker, escapeHtml, highlight } from '../../../shared/search/highlight.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { searchTerms } from '../../support/typed-terms.ts';

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
  ['The co\u00adoper\u00adation', 'cooperation ', 'The [co\u00adoper\u00adation]'],
  ['The co\u00adoper\u00adation', 'coop', 'The [co\u00adoper\u00adation]'],
  ['cafe\u0301s', 'cafés ', '[cafe\u0301s]'],
  ['هذا كِتَابٌ جديد', 'كتاب ', 'هذا [كِتَابٌ] جديد'],
])('%s: %s', (text, query, expected) => {
  expect(marked(text, query)).toBe(expected);
});

it.each([
  ['Kochmesser', { messer: ['kochmesser', 4, 10] }, 'Koch[messer]'],
  ['GROẞKÜCHENMESSER', { kuche: ['grosskuchenmesser', 5, 10] }, 'GROẞ[KÜCHE]NMESSER'],
  ['Ein Großkochmesser', { messer: ['grosskochmesser', 9, 15] }, 'Ein Großkoch[messer]'],
  [
    'Kochmesser, messer',
    { koch: ['kochmesser', 0, 4], messer: ['kochmesser', 4, 10] },
    '[Koch][messer], [messer]',
  ],
] as const)('marks the parts of %s', (text, compounds, expected) => {
  const language = languageOf('de');
  const query = `${Object.keys(compounds).join(', ')}; `;
  const { terms } = searchTerms(query, { language, typoTolerance: false });
  const found = terms.map((term) => {
    const [word, start, end] =
      (compounds as Record<string, readonly [string, number, number]>)[term.folded] ?? [];
    return { ...term, compounds: new Map([[word ?? '', { start: start ?? 0, end: end ?? 0 }]]) };
  });
  const marks = createMarker({ language, terms: found, kind: 'text' })(text);
  expect(highlight(text, marks, 'de', { before: '[', after: ']', escape: escapeHtml })).toBe(expected);
});

it('returns the words with the most distinct matches', () => {
  const text = 'one heat two three four five six heat and flow seven eight nine ten';
  expect(marked(text, 'heat flow', 6)).toBe('…five six [heat] and [flow] seven…');
  expect(marked(text, 'nowhere', 3)).toBe('one heat two…');
  expect(marked(text, 'ten', 3)).toBe('…eight nine [ten]');
});

it('chooses the first snippet with the most distinct matches, in any text', () => {
  const words = fc.constantFrom('heat', 'flow', 'layer', 'one', 'two');
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), (text, size) => {
      expect(marked(text.join(' '), 'heat flow layer ', size)).toBe(chosenSlowly(text, size));
    }),
  );
});

/** Returns the snippet by its definition: it compares all that begin with a match. */
function chosenSlowly(words: readonly string[], size: number): string {
  const isMatch = (word: string) => ['heat', 'flow', 'layer'].includes(word);
  const show = (some: readonly string[]) =>
    some.map((word) => (isMatch(word) ? `[${word}]` : word)).join(' ');
  if (words.length <= size) return show(words);
  const firsts = words.flatMap((word, at) =>
    isMatch(word) ? [Math.min(Math.max(0, at - Math.floor(size / 3)), words.length - size)] : [],
  );
  const termsIn = (first: number) => new Set(words.slice(first, first + size).filter(isMatch)).size;
  const most = Math.max(0, ...firsts.map(termsIn));
  const first = firsts.find((each) => termsIn(each) === most) ?? 0;
  const [start, end] = [first > 0 ? '…' : '', first + size < words.length ? '…' : ''];
  return `${start}${show(words.slice(first, first + size))}${end}`;
}

it('returns the snippet of a text with 300,000 matches', () => {
  expect(marked('a '.repeat(300_000), 'a', 2)).toBe('[a] [a]…');
});
