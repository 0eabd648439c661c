import { hash } from 'node:crypto';

/**
 * The hash chain over all events of a log file, whatever their space: each link is made of the one before, of the event's place and of
 * the digest of its content. So a changed, removed or moved event shows, and the last link stands for the whole history.
 */

/** What the first link of a log is made of. */
export const CHAIN_START = '';

/** SHA-256 in hex digits. */
export const nextLink = (before: string, stream: string, revision: bigint, digest: string): string =>
  hash('sha256', `${before}\n${stream}\n${revision}\n${digest}`, 'hex');
