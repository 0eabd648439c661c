import { hash } from 'node:crypto';
import { isRecord } from '../json-record.ts';

/**
 * Digest of an event's content, which the event carries in its metadata. It covers the content that the writer gives, but not the position
 * in a log. So it stays the same in an export, and in the log that imports the export.
 */

/** An event's content as text: `metadata` is JSON with sorted names and without the digest. */
export type DigestedContent = {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
};

/** Returns SHA-256 in base64url. Only the type can contain a line end, so two contents never give the same text. */
export function digestContent({ id, type, data, metadata }: DigestedContent): string {
  return hash('sha256', `${id}\n${type}\n${data}\n${metadata}`, 'base64url');
}

/** Returns the metadata's JSON text with the digest added as the last member. */
export function addDigest(metadata: string, digest: string): string {
  return `${metadata.slice(0, -1)}${metadata === '{}' ? '' : ','}"digest":"${digest}"}`;
}

const DIGEST = /,?"digest":"([A-Za-z0-9_-]{43})"\}$/;

/**
 * Checks an event by its stored texts. Returns the digest of the content as found. `matches`: false if the event carries a different one.
 * Events of earlier releases carry none. An erased event carries that of its earlier content, which is the one in the hash chain: only the
 * order of its erasure has that of the content as found.
 */
export function checkStoredText({ id, type, data, metadata }: DigestedContent) {
  const carried = DIGEST.exec(metadata);
  if (carried === null) return { digest: digestContent({ id, type, data, metadata }), matches: true };
  if (isErased(metadata)) return { digest: carried[1] as string, matches: true };
  const without = `${metadata.slice(0, carried.index)}}`;
  const digest = digestContent({ id, type, data, metadata: without });
  return { digest, matches: digest === carried[1] };
}

/** Returns whether a stored text of metadata is that of an erased event. Quotes inside of a value are escaped, so none looks like this. */
export function isErased(metadata: string): boolean {
  return metadata.includes('"erased":"');
}

/** Damage of an event that does not match its digest. */
export const OTHER_CONTENT = 'its content does not match its digest: it was changed after it was written';

/**
 * Checks an event whose JSON was already parsed, from a server or from an export. An erased event always matches. `text`: the stored text
 * of the data, if it is known. It usually is the text of the digest. A program that copies events may write the same data as another text.
 */
export function matchesDigest(
  event: {
    readonly id: string;
    readonly type: string;
    readonly data: unknown;
    readonly metadata: { readonly digest?: string | undefined; readonly erased?: string | undefined };
  },
  text?: string,
): boolean {
  const { id, type, data, metadata } = event;
  const { digest, erased } = metadata;
  if (digest === undefined || erased !== undefined) return true;
  const facts = digestedMetadata(metadata);
  const matches = (data: string) => digest === digestContent({ id, type, data, metadata: facts });
  return (text !== undefined && matches(text)) || matches(JSON.stringify(data));
}

/** Returns the digest of an erased event's content as found, which the order of its erasure names. */
export function digestAsFound({
  id,
  type,
  data,
  metadata,
}: {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: object;
}): string {
  return digestContent({ id, type, data: JSON.stringify(data), metadata: digestedMetadata(metadata) });
}

/**
 * Returns metadata as JSON without the digest, with sorted names in every object. The text is the same for the same metadata, whatever
 * order a store or a release gives its members.
 */
export function digestedMetadata(metadata: object): string {
  return JSON.stringify(sorted(metadata, 'digest'));
}

function sorted(value: object, but?: string): object {
  if (isSorted(value, but)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (name !== but) copy[name] = isRecord(member) ? sorted(member) : member;
  }
  return copy;
}

/** Objects whose keys are already sorted need no copy. */
function isSorted(value: object, but?: string): boolean {
  let before = '';
  for (const name in value) {
    if (name < before || name === but) return false;
    before = name;
    const member: unknown = (value as Record<string, unknown>)[name];
    if (isRecord(member) && !isSorted(member)) return false;
  }
  return true;
}
