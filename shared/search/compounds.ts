import type { CompoundRules } from './compound-rules.ts';

/** Letters of a word that are a part of it: from `start` to before `end`. */
export type WordPart = { readonly start: number; readonly end: number };

/** A form in which a term may be a part. `isTyped`: it needs no word of the vocabulary. */
export type PartForm = { readonly text: string; readonly isTyped: boolean };

/** Minimum letters of a part that is found, and of each of two words before or after it. */
const SHORTEST_PART = 4;
/** Minimum letters of the only word before or after a part. */
const SHORTEST_REST = 3;
/** Minimum letters of a word that has a part. */
export const SHORTEST_COMPOUND = SHORTEST_PART + SHORTEST_REST;
/** Maximum letters of a word whose parts are found. */
const LONGEST_COMPOUND = 60;
/** Maximum words in which a term is looked for as a part. Shorter words come first. */
const MOST_COMPOUNDS = 500;

type Asked = { readonly folded: string; readonly stem: string };

/** Returns the letters that every compound with a term has. Returns undefined if the term is too short to be a part. */
export function rootOfPart({ folded, stem }: Asked): string | undefined {
  if (folded.length < SHORTEST_PART) return undefined;
  return stem.length >= SHORTEST_REST && folded.startsWith(stem) ? stem : folded;
}

/** Returns whether a stop word may be next to a part, as in Danish havestol. A shorter one is too often an ending of another word. */
export function mayBeNeighbour(stopWord: string): boolean {
  return stopWord.length >= SHORTEST_PART;
}

/**
 * Returns the forms of a term as a part, longest first: the typed word, also without its last letter if that is its stem, and the words of
 * the vocabulary with its stem. `alike`: folded words with the stem.
 */
export function formsOfPart({ folded, stem }: Asked, alike: Iterable<string>): readonly PartForm[] {
  const forms = new Map<string, boolean>([[folded, true]]);
  if (stem.length + 1 >= folded.length) forms.set(stem, true);
  for (const text of alike) if (!forms.has(text)) forms.set(text, false);
  return [...forms]
    .filter(([text]) => text.length >= SHORTEST_PART)
    .sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1))
    .map(([text, isTyped]) => ({ text, isTyped }));
}

/** Returns the words that may have a part in one of the forms. It is one choice for one set of words, in any order. */
export function possibleCompounds(
  words: Iterable<string>,
  forms: readonly PartForm[],
  rules: CompoundRules,
): readonly string[] {
  const possible = [...new Set(words)].filter((word) => !placesOf(word, forms, rules).next().done);
  if (possible.length <= MOST_COMPOUNDS) return possible;
  return possible.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MOST_COMPOUNDS);
}

/** Returns all words that `partIn` may look up for a word. */
export function neighboursIn(word: string, forms: readonly PartForm[], rules: CompoundRules): Set<string> {
  const asked = new Set<string>();
  for (const { form, before, behind } of placesOf(word, forms, rules)) {
    if (!form.isTyped) asked.add(form.text);
    for (const words of before) for (const each of words) asked.add(each);
    for (const words of behind) for (const each of words) asked.add(each);
  }
  return asked;
}

/**
 * Returns the place of a term in a compound: the last place where the letters before and after it are known words. Returns undefined if there
 * is none. `isKnown` returns whether a text is a word, or the stem of a word, of the searched texts.
 */
export function partIn(
  word: string,
  forms: readonly PartForm[],
  rules: CompoundRules,
  isKnown: (text: string) => boolean,
): WordPart | undefined {
  for (const { start, form, before, behind } of placesOf(word, forms, rules)) {
    if (!form.isTyped && !isKnown(form.text)) continue;
    if (areKnown(before, isKnown) && areKnown(behind, isKnown))
      return { start, end: start + form.text.length };
  }
  return undefined;
}

function areKnown(readings: Readings, isKnown: (text: string) => boolean): boolean {
  for (const words of readings) if (words.every(isKnown)) return true;
  return false;
}

/** Ways to read letters as words. One reading without words: there are no letters, or only an ending. */
type Readings = readonly (readonly string[])[];

type Place = {
  readonly start: number;
  readonly form: PartForm;
  readonly before: Readings;
  readonly behind: Readings;
};

const NOTHING: Readings = [[]];

/** Returns the places of a part in a word, the last one first. */
function* placesOf(word: string, forms: readonly PartForm[], rules: CompoundRules): Generator<Place> {
  const { length } = word;
  if (length < SHORTEST_COMPOUND || length > LONGEST_COMPOUND) return;
  for (let start = length - SHORTEST_PART; start >= 0; start--) {
    for (const form of forms) {
      if (!word.startsWith(form.text, start)) continue;
      const { before, behind } = sidesOf(word.slice(0, start), word.slice(start + form.text.length), rules);
      const isCompound = before !== NOTHING || behind !== NOTHING;
      if (isCompound && before.length > 0 && behind.length > 0) yield { start, form, before, behind };
    }
  }
}

function sidesOf(left: string, right: string, rules: CompoundRules): Pick<Place, 'before' | 'behind'> {
  const { links, endings } = rules;
  return {
    before: left === '' ? NOTHING : readingsOf(left, rules, { fronts: NO_LINK, trails: links }),
    behind: endings.includes(right) ? NOTHING : readingsOf(right, rules, { fronts: links, trails: endings }),
  };
}

const NO_LINK = [''];

/** Sounds in front of the first and behind the last word of some letters. */
type Around = { readonly fronts: readonly string[]; readonly trails: readonly string[] };

/** Reads letters as one or two words. */
function readingsOf(text: string, rules: CompoundRules, { fronts, trails }: Around): Readings {
  const readings: (readonly string[])[] = [];
  const pairs: (readonly string[])[] = [];
  for (const front of fronts) {
    for (const trail of trails) {
      const end = text.length - trail.length;
      const isWord = end - front.length >= SHORTEST_REST && text.startsWith(front) && text.endsWith(trail);
      if (!isWord) continue;
      const letters = text.slice(front.length, end);
      readings.push([letters]);
      pairs.push(...pairsOf(letters, rules));
    }
  }
  return [...readings, ...pairs];
}

/** Reads letters as two words. */
function pairsOf(letters: string, { links }: CompoundRules): Readings {
  const pairs: (readonly string[])[] = [];
  for (let at = SHORTEST_PART; at + SHORTEST_PART <= letters.length; at++) {
    for (const link of links) {
      const second = letters.slice(at + link.length);
      if (second.length >= SHORTEST_PART && letters.startsWith(link, at))
        pairs.push([letters.slice(0, at), second]);
    }
  }
  return pairs;
}
