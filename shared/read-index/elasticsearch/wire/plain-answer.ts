import type { SearchAnswer, SearchHit } from './search-answer.ts';

// Texts that mark parts of a body. Inside a JSON string, backslashes would precede these quotes.
const HITS = '"hits":{';
const TOTAL = '"total":{"value":';
const LIST_OF_HITS = '"hits":[';
const FIELDS = '"fields":{';
const LIST = '":[';
const SORT = ',"sort":[';

const LETTER_U = 0x75;
/** Field names by their first letter. The other two names share their first letter, so their second letter distinguishes them. */
const NAMES: Readonly<Record<number, FieldName>> = Object.fromEntries(
  (['key', 'links', 'parts'] as const).map((name) => [name.charCodeAt(0), name]),
);

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** A body with the read position. `source` is written to `bytes`, which has space for all sources. */
type Scan = { readonly text: string; at: number; readonly bytes: Buffer; length: number };

/**
 * Reads the answer to searches that ask each hit for `key` and binary fields, without sort values or aggregations. It scans the body once
 * without parsing it, and decodes base64 straight into bytes that all hits share. That takes a fifth of the time. Returns undefined if the
 * body has an unexpected form.
 */
export function readPlainAnswers(body: Buffer, searches: number): readonly SearchAnswer[] | undefined {
  const text = body.toString('latin1');
  const bytes = Buffer.allocUnsafe(Math.ceil(text.length * 0.75));
  const scan: Scan = { text, at: 0, bytes, length: 0 };
  const answers: SearchAnswer[] = [];
  while (answers.length < searches) {
    // A failed search has no hits, so there are too few.
    const hits = text.indexOf(HITS, scan.at);
    if (hits < 0) return undefined;
    scan.at = hits + HITS.length;
    const answer = readAnswer(scan);
    if (answer === undefined) return undefined;
    answers.push(answer);
  }
  return text.includes(HITS, scan.at) ? undefined : answers;
}

function readAnswer(scan: Scan): SearchAnswer | undefined {
  const { text } = scan;
  const counted = text.startsWith(TOTAL, scan.at);
  if (counted) scan.at += TOTAL.length;
  const total = counted ? { total: { value: readNumber(scan) } } : undefined;
  const list = text.indexOf(LIST_OF_HITS, scan.at);
  if (list < 0) return undefined;
  scan.at = list + LIST_OF_HITS.length;
  const hits: SearchHit[] = [];
  if (text.charCodeAt(scan.at) === CLOSE_LIST) return { hits: { hits, ...total } };
  do {
    const hit = readHit(scan);
    if (hit === undefined) return undefined;
    hits.push(hit);
  } while (text.charCodeAt(scan.at++) === COMMA);
  return text.charCodeAt(scan.at - 1) === CLOSE_LIST ? { hits: { hits, ...total } } : undefined;
}

/** Reads a hit up to its closing brace. It may have an index and similar members, its fields, and sort values, but nothing else. */
function readHit(scan: Scan): SearchHit | undefined {
  const { text } = scan;
  const start = text.indexOf(FIELDS, scan.at);
  if (start < 0) return undefined;
  scan.at = start + FIELDS.length;
  const hit: MutableHit = { fields: { key: undefined, links: undefined, parts: undefined, sum: undefined } };
  do {
    if (!readField(scan, hit)) return undefined;
  } while (text.charCodeAt(scan.at++) === COMMA);
  if (text.charCodeAt(scan.at - 1) !== CLOSE_OBJECT) return undefined;
  if (text.startsWith(SORT, scan.at)) skipList(scan, scan.at + SORT.length);
  return text.charCodeAt(scan.at++) === CLOSE_OBJECT ? hit : undefined;
}

type FieldName = 'key' | 'src' | 'links' | 'parts' | 'sum';
type MutableHit = {
  readonly fields: { [name in Exclude<FieldName, 'src'>]: readonly [number | string] | undefined };
  source?: Uint8Array;
};

/** Reads a field: its name, and its list of one number or one base64 text. */
function readField(scan: Scan, hit: MutableHit): boolean {
  const { text } = scan;
  const name = fieldNameAt(text, scan.at + 1);
  if (name === undefined) return false;
  const open = scan.at + 1 + name.length;
  if (!text.startsWith(LIST, open)) return false;
  scan.at = open + LIST.length;
  const start = scan.at + 1;
  if (name === 'key') {
    hit.fields.key = [readNumber(scan)];
    if (scan.at < start) return false;
  } else if (text.charCodeAt(scan.at) !== QUOTE) return false;
  else {
    const end = text.indexOf('"', start);
    const value = text.slice(start, end);
    if (name === 'src') hit.source = readBytes(scan, value);
    else hit.fields[name] = [value];
    scan.at = end + 1;
  }
  return text.charCodeAt(scan.at++) === CLOSE_LIST;
}

/** Compares names in place. A name that is cut out at run time would have to be looked up among all names. */
function fieldNameAt(text: string, at: number): FieldName | undefined {
  const name = NAMES[text.charCodeAt(at)] ?? (text.charCodeAt(at + 1) === LETTER_U ? 'sum' : 'src');
  return text.startsWith(name, at) ? name : undefined;
}

function readBytes(scan: Scan, base64: string): Uint8Array {
  const start = scan.length;
  scan.length += scan.bytes.write(base64, start, 'base64');
  return scan.bytes.subarray(start, scan.length);
}

/** Skips a list of texts, numbers and nulls that starts at `start`. */
function skipList(scan: Scan, start: number): void {
  const { text } = scan;
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== CLOSE_LIST) {
    if (text.charCodeAt(at) !== QUOTE) at++;
    else {
      at++;
      while (at < text.length && text.charCodeAt(at) !== QUOTE)
        at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
      at++;
    }
  }
  scan.at = at + 1;
}

/** Reads digits as a number. */
function readNumber(scan: Scan): number {
  let value = 0;
  for (; ; scan.at++) {
    const digit = scan.text.charCodeAt(scan.at) - 48;
    if (!(digit >= 0 && digit <= 9)) return value;
    value = value * 10 + digit;
  }
}
