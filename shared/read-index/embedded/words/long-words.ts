import { SHORTEST_COMPOUND } from '../../../search/compounds.ts';
import type { IndexedWord } from '../../../search/match-word.ts';

/**
 * Words of a vocabulary that are long enough to have parts, as one text. A search for letters in one text takes a hundredth of the time of a
 * search in each word. The text may also have words that were removed since it was made.
 */
export type LongWords = {
  /** Folded words, each after and before a separator. Undefined until the first search. */
  text: string | undefined;
  /** Folded words that were added since the text was made. */
  added: string[];
};

const SEPARATOR = '\n';
/** Number of added words from which the text is made again. */
const MOST_ADDED = 1_000;

/** Creates long words without a text. */
export function createLongWords(): LongWords {
  return { text: undefined, added: [] };
}

/** Records a word that is added to the vocabulary. */
export function addLongWord(long: LongWords, folded: string): void {
  if (long.text !== undefined && folded.length >= SHORTEST_COMPOUND) long.added.push(folded);
}

/** Returns the folded words that contain these letters. `words`: those of the vocabulary. */
export function longWordsWith(
  long: LongWords,
  words: readonly (IndexedWord | undefined)[],
  letters: string,
): readonly string[] {
  if (long.text === undefined || long.added.length > MOST_ADDED) makeText(long, words);
  const text = long.text as string;
  const found: string[] = [];
  for (let at = text.indexOf(letters); at >= 0; ) {
    const end = text.indexOf(SEPARATOR, at);
    found.push(text.slice(text.lastIndexOf(SEPARATOR, at) + 1, end));
    at = text.indexOf(letters, end);
  }
  for (const word of long.added) if (word.includes(letters)) found.push(word);
  return found;
}

function makeText(long: LongWords, words: readonly (IndexedWord | undefined)[]): void {
  const folded = new Set<string>();
  for (const word of words) {
    if (word !== undefined && word.kind !== 'keyword' && word.folded.length >= SHORTEST_COMPOUND)
      folded.add(word.folded);
  }
  long.text = `${SEPARATOR}${[...folded].join(SEPARATOR)}${SEPARATOR}`;
  long.added = [];
}
