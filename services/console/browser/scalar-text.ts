import type { ShownAttribute } from './server.ts';

const NUMBERS = ['integer', 'decimal', 'float'];

/** Returns a value as the text that a field shows. A point in time is in the time zone of the browser. */
export function textOfScalar({ type }: ShownAttribute, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (type === 'json') return JSON.stringify(value, null, 2);
  return type === 'datetime' ? localMoment(String(value)) : String(value);
}

/** Returns the value that a text means in a write; undefined omits it. A malformed text is sent as it is, so that the server says why. */
export function inputOfScalar({ type }: ShownAttribute, text: string): unknown {
  if (type === 'password') return text === '' ? undefined : text;
  if (text === '') return null;
  if (NUMBERS.includes(type)) return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === 'boolean') return text === 'true';
  if (type === 'json') return parsedJson(text) ?? text;
  if (type === 'time') return text.length === 5 ? `${text}:00` : text;
  if (type === 'datetime') return momentOf(text);
  return text;
}

/** Returns why a text cannot be sent; undefined if it can. */
export function problemOfScalar({ type }: ShownAttribute, text: string): string | undefined {
  if (text === '') return undefined;
  if (type === 'json') return jsonProblem(text);
  return NUMBERS.includes(type) && Number.isNaN(Number(text)) ? `"${text}" is not a number` : undefined;
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function localMoment(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, -1)
    .replace(/\.000$/, '');
}

function momentOf(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}
