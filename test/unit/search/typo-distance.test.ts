import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOO_FAR, typoDistance } from '../../../shared/search/typo-distance.ts';

/** Returns all texts that one typo makes of `text`, with the weight of the typo. */
function withTypo(text: string, letters: string): { readonly text: string; readonly weight: number }[] {
  const found: { text: string; weight: number }[] = [];
  for (let at = 0; at <= text.length; at++) {
    const weight = at === 0 ? 2 : 1;
    const [before, rest] = [text.slice(0, at), text.slice(at)];
    for (const letter of letters) {
      found.push({ text: before + letter + rest, weight });
      if (rest !== '') found.push({ text: before + letter + rest.slice(1), weight });
    }
    if (rest !== '') found.push({ text: before + rest.slice(1), weight });
    if (rest.length > 1) found.push({ text: `${before}${rest[1]}${rest[0]}${rest.slice(2)}`, weight });
  }
  return found;
}

/** Returns the smallest weight of typos that turn `typed` into `word` or a prefix of it. It tries all typos. */
function naiveDistance(typed: string, word: string, limit: number, isPrefix: boolean): number {
  const isReached = (text: string) => text === word || (isPrefix && word.startsWith(text));
  if (isReached(typed)) return 0;
  const letters = [...new Set(word)].join('');
  const once = withTypo(typed, letters);
  if (limit >= 1 && once.some(({ text, weight }) => weight === 1 && isReached(text))) return 1;
  if (limit < 2) return TOO_FAR;
  const isTwo = once.some(
    ({ text, weight }) =>
      (weight === 2 && isReached(text)) ||
      (weight === 1 && withTypo(text, letters).some((next) => next.weight === 1 && isReached(next.text))),
  );
  return isTwo ? 2 : TOO_FAR;
}

describe('typoDistance', () => {
  it.each([
    ['pizza', 'pizza', 0],
    ['piza', 'pizza', 1],
    ['pizzza', 'pizza', 1],
    ['pisza', 'pizza', 1],
    ['pziza', 'pizza', 1],
    ['bizza', 'pizza', 2],
    ['ipzza', 'pizza', 2],
    ['izza', 'pizza', 2],
    ['bziza', 'pizza', TOO_FAR],
    ['pasta', 'pizza', TOO_FAR],
  ])('%s is %s with %s typos', (typed, word, typos) => {
    expect(typoDistance(typed, word, 2, false)).toBe(typos);
  });

  it('compares the beginning of a word', () => {
    expect(typoDistance('aerodinam', 'aerodynamics', 2, true)).toBe(1);
    expect(typoDistance('aerodinam', 'aerodynamics', 2, false)).toBe(TOO_FAR);
    expect(typoDistance('pizz', 'pizzeria', 0, true)).toBe(0);
  });

  it('is at least the distance found by trying every typo, and equal to it below two', () => {
    const word = fc.stringMatching(/^[abc]{1,6}$/);
    fc.assert(
      fc.property(word, word, fc.constantFrom(0, 1, 2), fc.boolean(), (typed, other, limit, isPrefix) => {
        const naive = naiveDistance(typed, other, limit, isPrefix);
        const found = typoDistance(typed, other, limit, isPrefix);
        // Letters that were swapped are not changed again, so two typos in one place may be found as three.
        expect(found).toBeGreaterThanOrEqual(naive);
        if (naive < 2) expect(found).toBe(naive);
      }),
      { numRuns: 2_000 },
    );
  });
});
