import type { EventColumns } from '../event-codec.ts';
import { checkStoredText, OTHER_CONTENT } from '../event-digest.ts';
import { CHAIN_START, nextLink } from './hash-chain.ts';

/** An event's row with its link in the hash chain, and the link of the previous event in the log. */
export type StoredRow = readonly [...EventColumns, chain: string | null, before: string | null];

/** Returns the damage of an event that was changed or moved after it was written; undefined if there is none. */
export function damageOf(row: StoredRow): string | undefined {
  const [position, stream, revision, id, type, data, metadata, chain, before] = row;
  const { digest, matches } = checkStoredText({ id, type, data, metadata });
  if (!matches) return OTHER_CONTENT;
  if (before === null && position > 1n)
    return `the event before it, at position ${position - 1n}, is missing from the log`;
  if (chain === nextLink(before ?? CHAIN_START, stream, revision, digest)) return undefined;
  return 'the hash chain of the log breaks at it: the event, or its position in the log, was changed';
}
