/** Returns the typos that a word of a query may have: none up to 4 letters, one up to 8, otherwise two. */
export function typosAllowed(word: string): number {
  if (word.length < 5) return 0;
  return word.length < 9 ? 1 : 2;
}

/** A distance that no word has. */
export const TOO_FAR = 9;

/** Maximum letters of a word with typos. Longer words are compared exactly. */
const LONGEST = 100;

/**
 * Returns the number of letters to insert, delete, replace or swap with a neighbour, to turn `word` into `typed`. With `isPrefix`, a
 * beginning of `word` is sufficient. A typo in the first letter counts as two. Returns TOO_FAR above `limit`, which is 2 at most.
 */
export function typoDistance(typed: string, word: string, limit: number, isPrefix: boolean): number {
  if (typed === word || (isPrefix && word.startsWith(typed))) return 0;
  if (limit === 0 || typed.length > LONGEST) return TOO_FAR;
  if (typed.charCodeAt(0) === word.charCodeAt(0)) return boundedDistance(typed, word, limit, isPrefix);
  if (limit < 2) return TOO_FAR;
  return differsAtFirst(typed, word, isPrefix) ? 2 : TOO_FAR;
}

/** Returns whether the words differ by one typo, in the first letter. */
function differsAtFirst(typed: string, word: string, isPrefix: boolean): boolean {
  const holds = (text: string, from: number) =>
    isPrefix ? word.startsWith(text, from) : word.length === from + text.length && word.endsWith(text);
  const rest = typed.slice(1);
  if (holds(rest, 1) || holds(typed, 1) || holds(rest, 0)) return true;
  return typed.length > 1 && holds(`${typed[1]}${typed[0]}${typed.slice(2)}`, 0);
}

type Pair = { readonly typed: string; readonly word: string; readonly isPrefix: boolean };

/**
 * Returns the distance of words that differ by few letters. It compares from their first difference on, which takes less time than a table
 * of distances.
 */
function boundedDistance(typed: string, word: string, limit: number, isPrefix: boolean): number {
  if (typed.length - word.length > limit || (!isPrefix && word.length - typed.length > limit)) return TOO_FAR;
  const pair = { typed, word, isPrefix };
  for (let typos = 1; typos <= limit; typos++) if (isWithin(pair, 1, 1, typos)) return typos;
  return TOO_FAR;
}

/**
 * Returns whether this many typos turn the rest of `word`, from one place on, into the rest of `typed`. Equal letters are always matched
 * with each other.
 */
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
