import { hmac } from '../../shared/text-digest.ts';

/** Key for cursors, which stay valid after a restart and in every process with the same access key. */
export const cursorKey = keyFor('cursors');

/** A process that follows a Strapi is asked by others of its log to read a document. */
export const followKey = keyFor('follow');

/**
 * Names under which uploaded content is served: the same for the same content, in every process with the access key.
 * The owner of a file cannot compute its name, and so cannot find out whether it is stored.
 */
export function uploadNames(accessKey: Uint8Array): (hash: string) => string {
  return (hash) => hmac(accessKey, `uploaded file ${hash}`).toString('hex');
}

/** Digests of bodies that may have passwords, as the log keeps them. */
export const bodyKey = keyFor('bodies of requests');

/** 256 bits that JWTs are signed with where no other secret is given: the same in every process that has the access key. */
export const jwtSecret = keyFor('JSON Web Tokens of users');

/** Key that encrypts the secrets of webhooks in the log. */
export const webhookKey = keyFor('webhooks');

/** Key for the names of tags in headers, and for purges in every process with the access key. */
export const tagKey = keyFor('cache tags');

/** Key that signs the sync tokens of the change feed. */
export const syncKey = keyFor('sync tokens');

/** Key that encrypts tickets, with which clients without headers ask for streams. */
export const ticketKey = keyFor('tickets');

function keyFor(purpose: string): (accessKey: Uint8Array) => Uint8Array {
  return (accessKey) => hmac(accessKey, purpose);
}
