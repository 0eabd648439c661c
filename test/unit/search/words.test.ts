import { describe, expect, it } from 'vitest';
import { foldWord } from '../../../shared/search/fold-word.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { splitWords } from '../../../shared/search/split-words.ts';
import { visibleText } from '../../../shared/search/visible-text.ts';
import { searchTerms } from '../../support/typed-terms.ts';

const words = (text: string, locale = 'en') => splitWords(text, locale).map(({ word }) => word);
const terms = (query: string, locale = 'en') =>
  searchTerms(query, { language: languageOf(locale), typoTolerance: true });

describe('splitWords', () => {
  it('splits at characters other than letters and digits, and converts to lower case', () => {
    expect(words("Joe's Café, 24/7!")).toEqual(['joe', 's', 'café', '24', '7']);
  });

  it('finds words in a script without spaces', () => {
    expect(words('東京都は大きい', 'ja')).toContain('東京');
    expect(words('ภาษาไทย', 'th')).toEqual(['ภาษา', 'ไทย']);
  });

  it('reads past characters that no reader sees, inside of words', () => {
    expect(words('co\u00adoper\u200bation, mi\u200c\u2060xed a\ufe0f \u200b \u3164')).toEqual([
      ...['cooperation', 'mixed', 'a'],
    ]);
    expect(words('می\u200cخواهم')).toEqual(['میخواهم']);
    expect(words('ภาษา\u200bไทย', 'th')).toEqual(['ภาษา', 'ไทย']);
    const [word] = splitWords('(co\u00adop)', 'en');
    expect([word?.start, word?.end]).toEqual([1, 6]);
  });

  it('returns the positions of words in the original text', () => {
    const text = 'Ein Cafe\u0301 in Köln';
    expect(splitWords(text, 'de').map(({ start, end }) => text.slice(start, end))).toEqual([
      ...['Ein', 'Cafe\u0301', 'in', 'Köln'],
    ]);
  });

  it('accepts an unknown locale', () => {
    expect(words('東京', 'xx_not a locale').length).toBeGreaterThan(0);
  });
});

describe('foldWord', () => {
  it.each([
    ['café', 'cafe'],
    ['straße', 'strasse'],
    ['søren', 'soren'],
    ['łódź', 'lodz'],
    ['ﬁne', 'fine'],
    ['が', 'が'],
    ['한국', '한국'],
    ['हिन्दी', 'हिन्दी'],
    ['كِتَابٌ', 'كتاب'],
    ['ـكـتـاب', 'كتاب'],
    ['کتاب', 'كتاب'],
    ['أحمد', 'احمد'],
    ['إسلام', 'اسلام'],
    ['آسيا', 'اسيا'],
    ['ٱلله', 'الله'],
    ['مصطفى', 'مصطفي'],
    ['فارسی', 'فارسي'],
    ['مدرسة', 'مدرسه'],
    ['ﻻ', 'لا'],
    ['۱۲٣', '123'],
    ['שָׁלוֹם', 'שלום'],
    ['שׁלום', 'שלום'],
    ['นี้', 'นี้'],
  ])('folds %s to %s', (word, folded) => {
    expect(foldWord(word)).toBe(folded.normalize('NFC'));
  });
});

describe('languageOf', () => {
  it.each([
    ['en', 'theories', 'theori'],
    ['fr-CA', 'maisons', 'maison'],
    ['de', 'häuser', 'haus'],
    ['xx', 'theories', 'theories'],
  ])('stems in %s', (locale, word, stem) => {
    expect(languageOf(locale).stem(word)).toBe(stem);
  });
});

describe('searchTerms', () => {
  it('keeps the words of a language once for all its locales, of which callers may name any', () => {
    const [one, other, unknown] = [languageOf('hu-AA'), languageOf('hu-BB'), languageOf('xq-AA')];
    expect(other.stopWords).toBe(one.stopWords);
    expect(other.stem).toBe(one.stem);
    expect(unknown.stopWords).toBe(languageOf('constructor').stopWords);
    for (let n = 0; n < 300; n++) languageOf(`hu-${n}`);
    expect(languageOf('hu-AA')).not.toBe(one);
  });

  it('omits stop words, except a last word that may be incomplete', () => {
    expect(terms('the pizza of ').terms.map(({ folded }) => folded)).toEqual(['pizza']);
    expect(terms('the pizza of').terms.map(({ folded }) => folded)).toEqual(['pizza', 'of']);
    expect(terms('the ').terms.map(({ folded }) => folded)).toEqual(['the']);
  });

  it('uses the last word as a prefix if nothing follows it', () => {
    expect(terms('pizza rom').terms.map(({ isPrefix }) => isPrefix)).toEqual([false, true]);
    expect(terms('pizza rom ').terms.map(({ isPrefix }) => isPrefix)).toEqual([false, false]);
  });

  it('uses the last word as a prefix if only characters follow that no reader sees', () => {
    expect(terms('pizza rom\u200b').terms.map(({ isPrefix }) => isPrefix)).toEqual([false, true]);
  });

  it('allows typos by the length of a word', () => {
    const allowed = terms('pizz pizza restaurant').terms.map(({ typos }) => typos);
    expect(allowed).toEqual([0, 1, 2]);
  });

  it('treats more than four words as a question, and counts repeated words', () => {
    expect(terms('one pizza two pizzas').mode).toBe('all');
    const question = terms('heat flow, heat transfer, heating plate ?');
    expect(question.mode).toBe('any');
    expect(question.terms.map(({ stem, count }) => [stem, count])).toEqual([
      ['heat', 3],
      ['flow', 1],
      ['transfer', 1],
      ['plate', 1],
    ]);
  });
});

describe('visibleText', () => {
  it('reads the text nodes of blocks, and joins parts of one word', () => {
    const blocks = [
      {
        type: 'paragraph',
        children: [
          { type: 'text', text: 'Piz' },
          { type: 'text', text: 'za', bold: true },
        ],
      },
      { type: 'list', children: [{ type: 'list-item', children: [{ type: 'text', text: 'Rome' }] }] },
    ];
    expect(words(visibleText('blocks', JSON.stringify(blocks)))).toEqual(['pizza', 'rome']);
  });
});
