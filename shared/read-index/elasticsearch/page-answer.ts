import type { SearchAnswer, SearchHit } from './search-answer.ts';

/** What a page without more asks of each hit. */
export const PAGE_FIELDS: readonly string[] = Object.freeze(['key', 'src']);

// Within a JSON string these quotes would have backslashes before them.
const HITS = '"hits":{';
const TOTAL = '"total":{"value":';
const FIELDS = '"fields":{';
const KEY = '"key":[';
const SOURCE = '"src":["';

/**
 * Reads the body of an answer to a search for `PAGE_FIELDS` whose sort values are not wanted: total, keys and sources, without
 * parsing it, which takes a third of the time. undefined when the body does not look as expected.
 */
export function readPageAnswer(body: Buffer): SearchAnswer | undefined {
  const text = body.toString('latin1');
  const start = text.indexOf(HITS);
  if (start < 0) return undefined;
  const hits: SearchHit[] = [];
  let at = text.indexOf(FIELDS, start);
  const total = readTotal(text, start, at < 0 ? text.length : at);
  while (at >= 0) {
    const next = text.indexOf(FIELDS, at + FIELDS.length);
    const key = text.indexOf(KEY, at);
    const source = text.indexOf(SOURCE, at);
    const end = next < 0 ? text.length : next;
    if (key < 0 || source < 0 || key > end || source > end) return undefined;
    const base64 = text.slice(source + SOURCE.length, text.indexOf('"', source + SOURCE.length));
    hits.push({
      fields: { key: [readNumber(text, key + KEY.length)] },
      source: Buffer.from(base64, 'base64'),
    });
    at = next;
  }
  return { hits: { hits, ...(total === undefined ? {} : { total: { value: total } }) } };
}

function readTotal(text: string, start: number, end: number): number | undefined {
  const at = text.indexOf(TOTAL, start);
  return at < 0 || at > end ? undefined : readNumber(text, at + TOTAL.length);
}

/** Digits from a place on. */
function readNumber(text: string, start: number): number {
  let value = 0;
  for (let at = start; ; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return value;
    value = value * 10 + digit;
  }
}
