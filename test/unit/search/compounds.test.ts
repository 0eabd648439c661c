import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compoundRules } from '../../../shared/search/compound-rules.ts';
import {
  formsOfPart,
  mayBeNeighbour,
  neighboursIn,
  partIn,
  possibleCompounds,
} from '../../../shared/search/compounds.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { type IndexedWord, indexedWord } from '../../../shared/search/match-word.ts';
import type { SearchTerm } from '../../../shared/search/search-terms.ts';
import { withCompoundsNaively } from '../../support/naive-compounds.ts';
import { searchTerms } from '../../support/typed-terms.ts';

/** Returns the letters that are marked in each word of which a term is a part. */
function partsOf(term: SearchTerm, words: readonly IndexedWord[], locale: string): Map<string, string> {
  const rules = compoundRules(locale, undefined);
  if (rules === undefined) return new Map();
  const { stopWords } = languageOf(locale);
  const plain = words.filter(({ folded }) => !stopWords.has(folded) || mayBeNeighbour(folded));
  const known = new Set(plain.flatMap(({ folded, stem }) => [folded, stem ?? folded]));
  const alike = words.filter(({ stem }) => stem === term.stem).map(({ folded }) => folded);
  const forms = formsOfPart(term, alike);
  const found = new Map<string, string>();
  for (const word of possibleCompounds(
    words.map(({ folded }) => folded),
    forms,
    rules,
  )) {
    const neighbours = neighboursIn(word, forms, rules);
    const part = partIn(word, forms, rules, (text) => {
      if (!neighbours.has(text)) throw new Error(`${text} is not among the words next to a part of ${word}`);
      return known.has(text);
    });
    if (part !== undefined) found.set(word, word.slice(part.start, part.end));
  }
  return found;
}

function partsIn(locale: string, query: string, text: string): Readonly<Record<string, string>> {
  const language = languageOf(locale);
  const words = text.split(' ').map((word) => indexedWord(language, word.toLowerCase(), 'text'));
  const [term] = searchTerms(query, { language, typoTolerance: true }).terms;
  return Object.fromEntries(partsOf(term as SearchTerm, words, locale));
}

describe('parts of compounds', () => {
  it.each([
    ['de', 'Messer', 'Kochmesser kochen', { kochmesser: 'messer' }],
    ['de', 'Messer', 'Kochmesser', {}],
    ['de', 'Fahrrad', 'Fahrradklingeln Klingel', { fahrradklingeln: 'fahrrad' }],
    ['de', 'Klingel', 'Fahrradklingeln Fahrrad', { fahrradklingeln: 'klingel' }],
    ['de', 'Kanne', 'Teekanne Tee Espressokannen Espresso', { teekanne: 'kanne', espressokannen: 'kanne' }],
    ['de', 'Stahl', 'Edelstahlkochmesser edel Kochmesser', { edelstahlkochmesser: 'stahl' }],
    ['de', 'Küche', 'Küchenwaage Waagen Gartenküche Garten', { kuchenwaage: 'kuche', gartenkuche: 'kuche' }],
    ['de', 'Bücher', 'Kochbuch kochen Buch', { kochbuch: 'buch' }],
    ['de', 'Hang', 'Vorhang vor', {}],
    ['de', 'Reise', 'Preise Reise', {}],
    ['de', 'Rad', 'Fahrrad fahren', {}],
    ['nl', 'Mes', 'Keukenmes keuken', {}],
    ['nl', 'Tafel', 'Keukentafels keuken Tafelkleed kleed', { keukentafels: 'tafel', tafelkleed: 'tafel' }],
    ['sv', 'Kniv', 'Kökskniven kök', { kokskniven: 'kniv' }],
    ['da', 'Kniv', 'Køkkenkniv køkken', { kokkenkniv: 'kniv' }],
    ['nb', 'Bok', 'Kokebok koke', {}],
    ['nb', 'Bord', 'Kjøkkenbordet kjøkken', { kjokkenbordet: 'bord' }],
    ['fi', 'Veitsi', 'Leipäveitsi leipä', { leipaveitsi: 'veitsi' }],
    ['fi', 'Rengas', 'Autonrengas auto', { autonrengas: 'rengas' }],
    ['en', 'flower', 'sunflower sun', {}],
  ])('in %s, %s is a part of words of: %s', (locale, query, text, parts) => {
    expect(partsIn(locale, query, text)).toEqual(parts);
  });

  it('are those of a regular expression over all words', () => {
    const letters = fc.stringMatching(/^[abc]{1,6}$/);
    const link = fc.constantFrom('', '', 's', 'en', 'x');
    const joined = fc
      .array(fc.tuple(letters, link), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(fc.array(letters, { minLength: 4, maxLength: 12 }), fc.array(joined), (short, long) => {
        const language = languageOf('de');
        const pieces = short.map((one, at) => `${one}${short[at + 1] ?? ''}${['', 'n', 's'][at % 3]}`);
        const triples = short.map((one, at) => `${one}${pieces[at + 1] ?? ''}`);
        const all = [...short, ...pieces, ...triples, ...long];
        const words = all.map((word) => indexedWord(language, word, 'text'));
        for (const query of short) {
          const [term] = searchTerms(query, { language, typoTolerance: true }).terms as [SearchTerm];
          const naive = withCompoundsNaively(term, words, 'de', language.stopWords).compounds;
          expect([...partsOf(term, words, 'de').keys()].sort()).toEqual([...naive.keys()].sort());
        }
      }),
      { numRuns: 20, seed: 3 },
    );
  });
});
