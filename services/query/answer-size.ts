import { constants } from 'node:buffer';
import { RequestError } from '../../shared/request-error.ts';
import { highlight } from '../../shared/search/highlight.ts';

/** Maximum bytes of an answer. JavaScript has no longer strings, so a client in JavaScript could not read a larger answer. */
const MOST_BYTES = constants.MAX_STRING_LENGTH;
/** Maximum letters of an answer's texts. They are in the heap several times until the answer is sent. */
const MOST_LETTERS = 2 ** 26;

/** Refuses an answer of more than MOST_BYTES. */
export function checkBytes(bytes: number): void {
  if (bytes > MOST_BYTES) refuse(`${MOST_BYTES} bytes`);
}

/** Counts letters of an answer. Refuses the request if there are more than MOST_LETTERS. */
export type CountLetters = (letters: number) => void;

/** Creates the count of one answer. */
export function createLetterCount(): CountLetters {
  let counted = 0;
  return (letters) => {
    counted += letters;
    if (counted > MOST_LETTERS) refuse(`${MOST_LETTERS} letters`);
  };
}

/** Returns a text, or a snippet of it, with tags around its marks. */
export type Highlight = typeof highlight;

/** Creates a function that highlights texts, and counts the letters of the highlights. */
export function createCountedHighlight(count: CountLetters): Highlight {
  return (text, marks, locale, style) => {
    const { before, after, snippet } = style;
    // Counts before the tags are inserted: if every second letter is a match, the tags are much longer than the text.
    if (snippet === undefined) count(text.length + marks.length * (before.length + after.length));
    const marked = highlight(text, marks, locale, style);
    if (snippet !== undefined) count(marked.length);
    return marked;
  };
}

function refuse(limit: string): never {
  throw new RequestError('query-too-large', `The answer would have more than ${limit}`, {
    source: 'query',
    found: `more than ${limit}`,
    accepted: `at most ${limit}: ask for a smaller page, for fewer relations at once, or for fewer attributes`,
  });
}
