import { type ByteSink, writeText } from './byte-sink.ts';
import { writeUnitGrams } from './unit-grams.ts';

/**
 * Text as tokens of a `text` field with the whitespace analyzer. First come every three neighbouring characters (code points) in order; a
 * mark at either end counts as a character. Then comes each distinct sequence of one or two characters. So contains, starts with, ends with
 * and equality of any length are exact phrases or terms. A token cannot contain blanks. Blanks and the marks are written as Unicode's
 * noncharacters. Texts should not contain noncharacters; one in a text is treated as the last of them.
 */
const FIRST_NONCHARACTER = 0xfdd0;
const LAST_NONCHARACTER = 0xfdef;
/** All characters of Java's Character.isWhitespace, at which the analyzer splits. */
const BLANKS = [
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
  0x2005, 0x2006, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x205f, 0x3000,
];
const START = String.fromCodePoint(FIRST_NONCHARACTER + BLANKS.length);
const END = String.fromCodePoint(FIRST_NONCHARACTER + BLANKS.length + 1);
const written = new Map(
  BLANKS.map((blank, i) => [String.fromCodePoint(blank), String.fromCodePoint(FIRST_NONCHARACTER + i)]),
);
const NEEDS_WRITING = new RegExp(`[\\s${[...written.keys()].join('')}\ufdd0-\ufdef]`, 'u');

export type TextMatch = 'equals' | 'contains' | 'prefix' | 'suffix';

/** Writes the field's content for a text, as a JSON string. */
export function writeGrams(sink: ByteSink, text: string): void {
  // This is several times faster, if every character is one unit.
  if (!writeUnitGrams(sink, text, standIns, MARKS)) writeText(sink, JSON.stringify(gramsOfCharacters(text)));
}

/** Replacement for each character of one unit. */
const standIns = Uint16Array.from({ length: 2 ** 16 }, (_, unit) => unit);
for (const [blank, standIn] of written) standIns[blank.charCodeAt(0)] = standIn.charCodeAt(0);
standIns.fill(LAST_NONCHARACTER, FIRST_NONCHARACTER, LAST_NONCHARACTER + 1);
standIns.fill(0, 0xd800, 0xe000);
const MARKS = [START.charCodeAt(0), END.charCodeAt(0)] as const;

function gramsOfCharacters(text: string): string {
  const chars = [START, ...characters(text), END];
  const grams: string[] = [];
  for (let i = 0; i + 2 < chars.length; i++) grams.push(`${chars[i]}${chars[i + 1]}${chars[i + 2]}`);
  const pieces = new Set<string>();
  for (let i = 0; i + 1 < chars.length; i++) {
    if (i > 0) pieces.add(chars[i] as string);
    pieces.add(`${chars[i]}${chars[i + 1]}`);
  }
  for (const piece of pieces) grams.push(piece);
  return grams.join(' ');
}

/** Returns tokens that follow each other in every matching text, and in no other. An empty list matches every text. */
export function needleGrams(match: TextMatch, needle: string): readonly string[] {
  const chars = characters(needle);
  if (match === 'equals' || match === 'prefix') chars.unshift(START);
  if (match === 'equals' || match === 'suffix') chars.push(END);
  // Every text has the marks.
  if (needle === '' && match !== 'equals') return [];
  if (chars.length < 3) return [chars.join('')];
  return chars.slice(2).map((char, i) => `${chars[i]}${chars[i + 1]}${char}`);
}

function characters(text: string): string[] {
  const chars = Array.from(text.toWellFormed());
  return NEEDS_WRITING.test(text) ? chars.map(writeCharacter) : chars;
}

function writeCharacter(char: string): string {
  const code = char.codePointAt(0) as number;
  if (code >= FIRST_NONCHARACTER && code <= LAST_NONCHARACTER) return String.fromCodePoint(LAST_NONCHARACTER);
  return written.get(char) ?? char;
}
