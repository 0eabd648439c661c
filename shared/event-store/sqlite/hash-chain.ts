import { hash } from 'node:crypto';

/**
 * Hash chain over all events of a log file, in all namespaces. Each link is a hash of the previous link, the event's stream and revision,
 * and the digest of its content. So a changed, removed or moved event is found, and the last link covers the whole history.
 */

/** Input of the first link of a log. */
export const CHAIN_START = '';

/** Returns the link after `before`: SHA-256 in hex digits. */
export function nextLink(before: string, stream: string, revision: bigint, digest: string): string {
  return hash('sha256', `${before}\n${stream}\n${revision}\n${digest}`, 'hex');
}
