import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMarker } from '../../../shared/search/highlight.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { indexedWord, matchWord } from '../../../shared/search/match-word.ts';
import { letterFilter, scanWords } from '../../../shared/search/scan-words.ts';
import { searchTerms } from '../../support/typed-terms.ts';

/** Languages whose stemmers are declared to keep the first letter. */
const LANGUAGES = 'da de en es fi fr hu it nb pl pt ro ru sv'.split(' ').map(languageOf);
const BEGINNINGS = ['ge', 'be', 'un', 'y', 'qu', 'al', 'me', 'di', 'ss', 'o', 'aeiou', 'll', 'xyz', '7'];
const ENDINGS =
  'ing ed s es ies ung heit ation ment amente issimo eaza ului nak ban ssa lla heden ing arna y u'.split(' ');

const word = fc
  .tuple(
    fc.constantFrom(...BEGINNINGS, ''),
    fc.stringMatching(/^[a-z]{0,7}$/),
    fc.array(fc.constantFrom(...ENDINGS), { maxLength: 2 }),
  )
  .map((parts) => parts.flat().join(''))
  .filter((text) => text !== '');

it('keeps the first letter of a word in every language for which this is stated', () => {
  fc.assert(
    fc.property(word, (text) => {
      for (const language of LANGUAGES) {
        expect(language.keepsFirstLetter).toBe(true);
        expect(`${language.locale} ${language.stem(text)[0]}`).toBe(`${language.locale} ${text[0]}`);
      }
    }),
    { numRuns: 3_000 },
  );
  // The Irish stemmer removes prefixes.
  expect([languageOf('ga').keepsFirstLetter, languageOf('ga').stem('bhfuil')[0]]).toEqual([false, 'f']);
});

const TYPOS = ['none', 'swapped', 'gone', 'other', 'more'] as const;

/** Returns a word with a typo in its first letter. */
function misspell(text: string, typo: (typeof TYPOS)[number]): string {
  if (typo === 'swapped') return `${text.slice(1, 2)}${text.slice(0, 1)}${text.slice(2)}`;
  if (typo === 'gone') return text.slice(1);
  if (typo === 'other') return `z${text.slice(1)}`;
  return typo === 'more' ? `z${text}` : text;
}

const part = fc.record({
  word: word.filter((text) => text.length > 2),
  typo: fc.constantFrom(...TYPOS),
  separator: fc.constantFrom(' ', ', ', '-', ' <B>', "'"),
});

it('scans every word that matches a query, among separators and capitals', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.nat(4), (parts, cut) => {
      const text = parts
        .map((each) => `${misspell(each.word, each.typo).toUpperCase()}${each.separator}`)
        .join('');
      const words = [...text.matchAll(/[A-Z0-9]+/g)].map(([each]) => each);
      for (const locale of ['en', 'de', 'ga', 'xx']) {
        const language = languageOf(locale);
        for (const typed of [parts[0]?.word ?? '', text.slice(0, -1)]) {
          const query = typed.slice(0, Math.max(1, typed.length - cut));
          const { terms } = searchTerms(query, { language, typoTolerance: true });
          const guessed = terms.map((term) => ({ ...term, typos: 2 }));
          const scanned: string[] = [];
          const filter = letterFilter({ language, terms: guessed });
          expect(scanWords(text, filter, (start, end) => scanned.push(text.slice(start, end)))).toBe(true);
          const matching = words.filter((each) => {
            const indexed = indexedWord(language, each.toLowerCase(), 'text');
            return guessed.some((term) => matchWord(term, indexed) !== undefined);
          });
          expect(matching.filter((each) => !scanned.includes(each))).toEqual([]);
          const marked = createMarker({ language, terms: guessed, kind: 'text' })(text);
          expect(marked.length).toBe(matching.length);
        }
      }
    }),
    { numRuns: 500 },
  );
});

it('scans words whose stem has another first letter', () => {
  const language = languageOf('ga');
  const { terms } = searchTerms('fuil ', { language, typoTolerance: false });
  expect(createMarker({ language, terms, kind: 'text' })('Bhfuil').length).toBe(1);
});

it('looks at few words of a text, and does not scan texts with letters outside ASCII', () => {
  const language = languageOf('en');
  const { terms } = searchTerms('boundary layer ', { language, typoTolerance: true });
  const filter = letterFilter({ language, terms });
  const found: number[] = [];
  const text = 'Heat transfer in LAMINAR boundary flow';
  expect(scanWords(text, filter, (start, end) => found.push(start, end))).toBe(true);
  expect(found).toEqual([17, 24, 25, 33]);
  expect(scanWords('Crème', filter, () => undefined)).toBe(false);
});
