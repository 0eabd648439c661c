import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteSink, takeWritten } from '../../shared/read-index/elasticsearch/documents/byte-sink.ts';
import {
  needleGrams,
  type TextMatch,
  writeGrams,
} from '../../shared/read-index/elasticsearch/documents/text-grams.ts';

const sink = createByteSink();

/** Returns the field's content for a text. */
function textGrams(text: string): string {
  writeGrams(sink, text);
  return JSON.parse(String(takeWritten(sink))) as string;
}

/** Returns true if the tokens are next to each other and in order, as in a phrase query. */
function hasPhrase(content: string, phrase: readonly string[]): boolean {
  const tokens = content.split(' ');
  return phrase.length === 0 || tokens.some((_, at) => phrase.every((token, i) => tokens[at + i] === token));
}

const MATCHES: Readonly<Record<TextMatch, (text: string, needle: string) => boolean>> = {
  equals: (text, needle) => text === needle,
  contains: (text, needle) => text.includes(needle),
  prefix: (text, needle) => text.startsWith(needle),
  suffix: (text, needle) => text.endsWith(needle),
};

/**
 * Generates texts of few characters, so that searches match. The characters include blanks, one of two UTF-16 units, one that sorts
 * after the substitutes of blanks, and some that JSON escapes.
 */
const text = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\t', '\u2028', '\u{1F600}', 'é', '\uFDF0', '"', '\\', '\u0001', '漢'),
  maxLength: 12,
});

describe('text grams', () => {
  it.each(Object.entries(MATCHES))('%s is a phrase of grams, exactly', (match, holds) => {
    const property = fc.property(text, text, (haystack, needle) => {
      const found = hasPhrase(textGrams(haystack), needleGrams(match as TextMatch, needle));
      expect(found).toBe(holds(haystack, needle));
    });
    fc.assert(property, { numRuns: 3000 });
  });

  it('matches every text for an empty needle, and only the empty text for equality', () => {
    expect(needleGrams('contains', '')).toEqual([]);
    expect(needleGrams('prefix', '')).toEqual([]);
    expect(needleGrams('suffix', '')).toEqual([]);
    expect(hasPhrase(textGrams(''), needleGrams('equals', ''))).toBe(true);
    expect(hasPhrase(textGrams('a'), needleGrams('equals', ''))).toBe(false);
  });

  it('has one token for needles of up to three characters', () => {
    expect(needleGrams('contains', 'ab')).toEqual(['ab']);
    expect(needleGrams('contains', '\u{1F600}bc')).toEqual(['\u{1F600}bc']);
    expect(needleGrams('contains', 'abcd')).toEqual(['abc', 'bcd']);
  });

  it('leaves no blank in a token', () => {
    const blanks =
      '\t\n\v\f\r\u001c\u001d\u001e\u001f \u1680\u2000\u2006\u2008\u200a\u2028\u2029\u205f\u3000';
    expect(textGrams(blanks).split(' ')).not.toContain('');
    for (const blank of blanks) expect(textGrams(blanks).replaceAll(' ', '')).not.toContain(blank);
  });
});
