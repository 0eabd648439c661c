import type { EventColumns } from '../event-codec.ts';
import { checkStoredText, OTHER_CONTENT } from '../event-digest.ts';
import { CHAIN_START, nextLink } from './hash-chain.ts';

/** With its link in the hash chain, and that of the event before it in the log. */
export type StoredRow = readonly [...EventColumns, chain: string | null, before: string | null];

/** What is wrong with an event that is not as it was written where it was written; undefined when nothing is. */
export const damageOf = (row: StoredRow): string | undefined => {
  const [position, stream, revision, id, type, data, metadata, chain, before] = row;
  const { digest, matches } = checkStoredText({ id, type, data, metadata });
  if (!matches) return OTHER_CONTENT;
  if (before === null && position > 1n)
    return `the event before it, at position ${position - 1n}, is missing from the log`;
  if (chain === nextLink(before ?? CHAIN_START, stream, revision, digest)) return undefined;
  return 'the hash chain of the log breaks at it: it, or its place in the log, is not what was written';
};
