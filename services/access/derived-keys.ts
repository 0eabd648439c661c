import { hmac } from '../../shared/text-digest.ts';

/** Key for cursors, which stay valid after a restart and in every process with the same access key. */
export const cursorKey = keyFor('cursors');

/** Key for requests between processes of one log that ask the follower of a Strapi to read a document. */
export const followKey = keyFor('follow');

/**
 * Returns a function from the hash of an uploaded file to its public name: the same name in every process with the access key. A person who
 * has a file cannot compute its name, and so cannot find out whether it is stored.
 */
export function uploadNames(accessKey: Uint8Array): (hash: string) => string {
  return (hash) => hmac(accessKey, `uploaded file ${hash}`).toString('hex');
}

/** Key for the digests that the log keeps of bodies that may have passwords. */
export const bodyKey = keyFor('bodies of requests');

/** Secret of 256 bits that signs JWTs if no other is given: the same in every process with the access key. */
export const jwtSecret = keyFor('JSON Web Tokens of users');

/** Key that encrypts the secrets of webhooks in the log. */
export const webhookKey = keyFor('webhooks');

/** Key for the names of cache tags in headers and purges. */
export const tagKey = keyFor('cache tags');

/** Key for the ids of searches on which clicks are counted. */
export const searchKey = keyFor('searches');

/** Key that signs the sync tokens of the change feed. */
export const syncKey = keyFor('sync tokens');

/** Key that encrypts tickets: clients that cannot send headers open streams with them. */
export const ticketKey = keyFor('tickets');

function keyFor(purpose: string): (accessKey: Uint8Array) => Uint8Array {
  return (accessKey) => hmac(accessKey, purpose);
}
