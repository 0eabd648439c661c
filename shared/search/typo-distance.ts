/** Typos that a word of a query may have: none up to 4 letters, one up to 8, else two. */
export function typosAllowed(word: string): number {
  if (word.length < 5) return 0;
  return word.length < 9 ? 1 : 2;
}

/** No word is as far as this. */
export const TOO_FAR = 9;

/** Longer words are compared as they stand. */
const LONGEST = 100;

/** Rows of the distance table: the one in the making and the two before, as a swap looks back on both. */
const TABLE: readonly Uint8Array[] = [0, 1, 2].map(() => new Uint8Array(LONGEST + 3));

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

function boundedDistance(typed: string, word: string, limit: number, isPrefix: boolean): number {
  const length = isPrefix ? Math.min(word.length, typed.length + limit) : word.length;
  if (Math.abs(typed.length - length) > limit) return TOO_FAR;
  const first = TABLE[0] as Uint8Array;
  for (let column = 0; column <= length; column++) first[column] = column;
  for (let at = 1; at <= typed.length; at++) {
    if (fillRow(typed, word, at, length) > limit) return TOO_FAR;
  }
  const last = TABLE[typed.length % 3] as Uint8Array;
  let distance = last[length] as number;
  if (isPrefix)
    for (let column = 0; column < length; column++) distance = Math.min(distance, last[column] as number);
  return distance > limit ? TOO_FAR : distance;
}

/** Fills the table's row for the first `at` letters of `typed`. Returns its least distance. */
function fillRow(typed: string, word: string, at: number, length: number): number {
  const row = TABLE[at % 3] as Uint8Array;
  const above = TABLE[(at + 2) % 3] as Uint8Array;
  const before = TABLE[(at + 1) % 3] as Uint8Array;
  const letter = typed.charCodeAt(at - 1);
  const previous = at > 1 ? typed.charCodeAt(at - 2) : -1;
  let least = at;
  row[0] = at;
  for (let column = 1; column <= length; column++) {
    const other = word.charCodeAt(column - 1);
    let distance = (above[column - 1] as number) + (letter === other ? 0 : 1);
    distance = Math.min(distance, (above[column] as number) + 1, (row[column - 1] as number) + 1);
    if (previous === other && column > 1 && letter === word.charCodeAt(column - 2))
      distance = Math.min(distance, (before[column - 2] as number) + 1);
    row[column] = distance;
    if (distance < least) least = distance;
  }
  return least;
}
