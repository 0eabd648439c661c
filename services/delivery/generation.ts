import { digestText } from '../../shared/text-digest.ts';

/** 48 bits: enough to distinguish the shapes of one site. The digest of the body identifies an answer. */
const LENGTH = 8;

/**
 * Names everything besides content that shapes answers: the content types, settings, rights and version of the program. Equal values have
 * equal names in every process, in whatever order their members are.
 */
export function nameShape(shape: object): string {
  return digestText(JSON.stringify(shape, (_, value: unknown) => plain(value))).slice(0, LENGTH);
}

/** Maps and sets as JSON has them. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value instanceof Set) return [...value].sort();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
