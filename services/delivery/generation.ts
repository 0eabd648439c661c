import { digestText } from '../../shared/text-digest.ts';

/** Length of a name: 48 bits distinguish the shapes of one site. The digest of the body identifies an answer. */
const LENGTH = 8;

/**
 * Names everything except content that shapes answers: content types, settings, rights and the version of the program. Equal values have
 * equal names in every process, and the order of their members does not matter.
 */
export function nameShape(shape: object): string {
  return digestText(JSON.stringify(shape, (_, value: unknown) => plain(value))).slice(0, LENGTH);
}

/** Converts maps and sets to objects and arrays, and sorts members. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value instanceof Set) return [...value].sort();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
