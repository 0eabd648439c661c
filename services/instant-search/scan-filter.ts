import { type FilterParameter, refuseFilter } from './instant-filter.ts';

/** A text that is read from the left. */
export type Scanner = { readonly text: string; readonly param: FilterParameter; at: number };

/** A part of a text; in quotes it is literal. */
export type Word = { readonly text: string; readonly isQuoted: boolean };

const WHITESPACE = /\s*/y;
/** A name ends where an operator begins. */
const NAME = /[^\s()"'<>=!:]+/y;
const VALUE = /[^\s()]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/sy;
const KEYWORD_END = /[\s()]|$/y;
const KEYWORDS = ['AND', 'OR', 'NOT', 'TO'];

/** Returns a scanner at the beginning of a filter. `param` is for messages. */
export function createScanner(text: string, param: FilterParameter): Scanner {
  return { text, param, at: 0 };
}

/** Moves the scanner to the next character that is not whitespace. */
export function skipWhitespace(scanner: Scanner): void {
  take(scanner, WHITESPACE);
}

/** Returns whether the next character but spaces is this one. */
export function isAt(scanner: Scanner, character: string): boolean {
  skipWhitespace(scanner);
  return scanner.text[scanner.at] === character;
}

/** Skips an operator if it comes next. */
export function takeText(scanner: Scanner, text: string): boolean {
  skipWhitespace(scanner);
  if (!scanner.text.startsWith(text, scanner.at)) return false;
  scanner.at += text.length;
  return true;
}

/** Skips a word in capitals if it comes next as a whole word. */
export function takeKeyword(scanner: Scanner, keyword: string): boolean {
  const start = scanner.at;
  if (takeText(scanner, keyword) && matchAt(KEYWORD_END, scanner) !== null) return true;
  scanner.at = start;
  return false;
}

/** Takes the name of an attribute, quoted or not. Throws RequestError if none comes next. */
export function takeName(scanner: Scanner): Word {
  return takeWord(scanner, NAME, 'the name of an attribute');
}

/** Takes a value, quoted or not. Throws RequestError if none comes next. */
export function takeValue(scanner: Scanner): Word {
  return takeWord(scanner, VALUE, 'a value, in quotes if it has spaces or parentheses');
}

function takeWord(scanner: Scanner, pattern: RegExp, accepted: string): Word {
  skipWhitespace(scanner);
  const quoted = matchAt(QUOTED, scanner);
  if (quoted !== null) {
    scanner.at += quoted[0].length;
    return { text: (quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/gs, '$1'), isQuoted: true };
  }
  const text = take(scanner, pattern);
  if (text === '' || /^["']/.test(text) || KEYWORDS.includes(text))
    refuseFilter(scanner.param, scanner.text.slice(scanner.at - text.length) || 'the end', accepted);
  return { text, isQuoted: false };
}

function take(scanner: Scanner, pattern: RegExp): string {
  const text = matchAt(pattern, scanner)?.[0] ?? '';
  scanner.at += text.length;
  return text;
}

function matchAt(pattern: RegExp, { text, at }: Scanner): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
