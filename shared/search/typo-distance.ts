/** Typos that a word of a query may have: none up to 4 letters, one up to 8, else two. */
export function typosAllowed(word: string): number {
  if (word.length < 5) return 0;
  return word.length < 9 ? 1 : 2;
}

/** No word is as far as this. */
export const TOO_FAR = 9;

/** Longer words are compared exactly. */
const LONGEST = 100;

/**
 * Letters to insert, delete, replace or swap with a neighbour, to make `typed` of `word` (`isPrefix`: of a beginning of `word`).
 * A typo in the first letter counts as two. TOO_FAR above `limit`, which is 2 at most.
 */
export function typoDistance(typed: string, word: string, limit: number, isPrefix: boolean): number {
  if (typed === word || (isPrefix && word.startsWith(typed))) return 0;
  if (limit === 0 || typed.length > LONGEST) return TOO_FAR;
  if (typed.charCodeAt(0) === word.charCodeAt(0)) return boundedDistance(typed, word, limit, isPrefix);
  if (limit < 2) return TOO_FAR;
  return differsAtFirst(typed, word, isPrefix) ? 2 : TOO_FAR;
}

/** One typo, in the first letter. */
function differsAtFirst(typed: string, word: string, isPrefix: boolean): boolean {
  const holds = (text: string, from: number) =>
    isPrefix ? word.startsWith(text, from) : word.length === from + text.length && word.endsWith(text);
  const rest = typed.slice(1);
  if (holds(rest, 1) || holds(typed, 1) || holds(rest, 0)) return true;
  return typed.length > 1 && holds(`${typed[1]}${typed[0]}${typed.slice(2)}`, 0);
}

type Pair = { readonly typed: string; readonly word: string; readonly isPrefix: boolean };

/** Words that differ by few letters are compared from their first difference on, which takes less than a table of distances. */
function boundedDistance(typed: string, word: string, limit: number, isPrefix: boolean): number {
  if (typed.length - word.length > limit || (!isPrefix && word.length - typed.length > limit)) return TOO_FAR;
  const pair = { typed, word, isPrefix };
  for (let typos = 1; typos <= limit; typos++) if (isWithin(pair, 1, 1, typos)) return typos;
  return TOO_FAR;
}

/** Whether so many typos make what is in `typed` from one place on of what is in `word` from another. Equal letters are never worth a typo. */
function isWithin(pair: Pair, from: number, at: number, typos: number): boolean {
  const { typed, word, isPrefix } = pair;
  let [i, j] = [from, at];
  while (i < typed.length && j < word.length && typed.charCodeAt(i) === word.charCodeAt(j)) {
    i++;
    j++;
  }
  if (i >= typed.length) return isPrefix || word.length - j <= typos;
  if (j >= word.length) return typed.length - i <= typos;
  if (typos === 0) return false;
  const left = typos - 1;
  return (
    isWithin(pair, i + 1, j + 1, left) ||
    isWithin(pair, i + 1, j, left) ||
    isWithin(pair, i, j + 1, left) ||
    (isSwap(pair, i, j) && isWithin(pair, i + 2, j + 2, left))
  );
}

function isSwap({ typed, word }: Pair, i: number, j: number): boolean {
  return (
    i + 1 < typed.length &&
    typed.charCodeAt(i) === word.charCodeAt(j + 1) &&
    typed.charCodeAt(i + 1) === word.charCodeAt(j)
  );
}
