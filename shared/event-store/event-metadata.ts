import { defined } from '../defined.ts';
import { valueOfJson } from '../json.ts';
import { isRecord } from '../json-record.ts';
import type { EventMetadata, Unreadable } from './event-store.ts';

/**
 * Metadata as it is stored and as the program uses it. There are two stored forms. In the typed form numbers are numbers and objects are
 * objects. In the all-strings form every value is a string, because KurrentDB's `appendRecords` accepts nothing else. Every value other
 * than a text is then JSON in a string. `readMetadata` reads both forms.
 */

/** A stored text or byte sequence that is not JSON. */
export type NotJson = { readonly [NOT_JSON]: string };
const NOT_JSON = Symbol('not JSON');

/** Marks a stored text that is not JSON, so that it is not taken for a JSON string. */
export function notJson(text: string): NotJson {
  return { [NOT_JSON]: text };
}

/** Returns a stored value, of data or metadata. Returns its text if it is not JSON. */
export function storedMetadata(value: unknown): unknown {
  return textOf(value) ?? value ?? null;
}

/** Returns the text of a value that is not JSON; undefined for a JSON value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && NOT_JSON in value
    ? (value as NotJson)[NOT_JSON]
    : undefined;
}

/** Parses a stored text as JSON. A text that is not JSON is marked with `notJson`. */
export function parseStored(text: string): unknown {
  const value = valueOfJson(text);
  return value === undefined ? notJson(text) : value;
}

/** Keys of every event that Varve wrote. An event with fewer than two of these is foreign. */
const REQUIRED = ['schemaVersion', 'at', 'epoch'] as const;
const ENOUGH = 2;

/** Names of values that are texts, which are the same in both forms. */
const TEXTS: ReadonlySet<string> = new Set([
  'at',
  'via',
  'correlationId',
  'traceId',
  'causationId',
  'erased',
  'salt',
  'digest',
]);

/** KurrentDB's own names. Its projections and user interface expect them. */
const NAMES_OF_SERVER: ReadonlyMap<string, string> = new Map([
  ['$correlationId', 'correlationId'],
  ['$causationId', 'causationId'],
]);

export type MetadataReading =
  | { readonly kind: 'read'; readonly metadata: EventMetadata }
  | { readonly kind: 'unreadable'; readonly unreadable: Unreadable };

/** Reads stored metadata of either form: parsed JSON, or `notJson`. The result depends on nothing else. */
export function readMetadata(stored: unknown): MetadataReading {
  if (countRequired(stored) < ENOUGH)
    return unreadable('foreign', "it has no metadata of Varve's: another program wrote it", stored);
  if (textOf(stored) !== undefined) return unreadable('damaged', 'its metadata is not JSON', stored);
  const metadata = normalize(stored as Stored);
  const wrong = wrongKey(metadata);
  if (wrong === undefined) return { kind: 'read', metadata: metadata as EventMetadata };
  return unreadable('damaged', `its metadata has no valid "${wrong}"`, stored);
}

/** Returns the metadata in the all-strings form, with KurrentDB's names. */
export function metadataAsStrings(metadata: EventMetadata): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(withServerNames(metadata)).map(([name, value]) => [
      name,
      typeof value === 'string' && TEXTS.has(plainName(name)) ? value : JSON.stringify(value),
    ]),
  );
}

/** Returns the metadata in the typed form, with KurrentDB's names. */
export function withServerNames(metadata: EventMetadata): Readonly<Record<string, unknown>> {
  const { correlationId, causationId, ...others } = metadata;
  return {
    ...others,
    ...defined({ $correlationId: correlationId, $causationId: causationId }),
  };
}

/** Returns the metadata with its names in the order in which they are written: sorted, with the digest last. */
export function inOrder({ digest, ...facts }: Stored): Stored {
  const entries = Object.entries(facts).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(digest === undefined ? entries : [...entries, ['digest', digest]]);
}

type Stored = Readonly<Record<string, unknown>>;

function countRequired(stored: unknown): number {
  if (!isRecord(stored)) return 0;
  const text = textOf(stored);
  const has = (name: string) => (text === undefined ? name in stored : text.includes(`"${name}"`));
  return REQUIRED.filter(has).length;
}

function plainName(name: string): string {
  return NAMES_OF_SERVER.get(name) ?? name;
}

/**
 * Converts stored metadata to the program's shape. Most metadata already has this shape and is returned unchanged, because this runs for
 * every event of a replay.
 */
function normalize(stored: Stored): Stored {
  const isStrings = typeof stored['schemaVersion'] === 'string';
  if (!isStrings && !hasServerNames(stored)) return stored;
  const entries = Object.entries(stored)
    .filter(([name]) => !name.startsWith('$') || NAMES_OF_SERVER.has(name))
    .map(([name, value]) => [plainName(name), isStrings ? typedValue(plainName(name), value) : value]);
  return inOrder(Object.fromEntries(entries));
}

function hasServerNames(stored: Stored): boolean {
  for (const name in stored) if (name.charCodeAt(0) === DOLLAR) return true;
  return false;
}
const DOLLAR = 36;

function typedValue(name: string, value: unknown): unknown {
  if (TEXTS.has(name) || typeof value !== 'string') return value;
  const json = valueOfJson(value);
  return json === undefined ? value : json;
}

/** Checks the keys that decide whether an event takes effect. The author decides nothing, so an author of any shape is accepted. */
function wrongKey({ schemaVersion, at, epoch, command }: Stored): string | undefined {
  if (!isWhole(schemaVersion, 1)) return 'schemaVersion';
  if (typeof at !== 'string') return 'at';
  if (!isWhole(epoch, 0)) return 'epoch';
  return command === undefined || isIdentity(command) ? undefined : 'command';
}

function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least;
}

function isIdentity(command: unknown): boolean {
  if (!isRecord(command)) return false;
  const { id, request } = command;
  return typeof id === 'string' && (request === undefined || typeof request === 'string');
}

function unreadable(kind: Unreadable['kind'], reason: string, stored: unknown): MetadataReading {
  return { kind: 'unreadable', unreadable: { kind, reason, metadata: storedMetadata(stored) } };
}
