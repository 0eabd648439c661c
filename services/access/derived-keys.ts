import { hmac } from '../../shared/text-digest.ts';

/** Key for cursors, which stay valid after a restart and in every process with the same access key. */
export function cursorKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'cursors');
}

/** A process that follows a Strapi is asked by others of its log to read a document. */
export function followKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'follow');
}

/**
 * Names under which uploaded content is served: the same for the same content, in every process with the access key.
 * The owner of a file cannot compute its name, and so cannot find out whether it is stored.
 */
export function uploadNames(accessKey: Uint8Array): (hash: string) => string {
  return (hash) => hmac(accessKey, `uploaded file ${hash}`).toString('hex');
}

/** Digests of bodies that may have passwords, as the log keeps them. */
export function bodyKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'bodies of requests');
}

/** 256 bits that JWTs are signed with where no other secret is given: the same in every process that has the access key. */
export function jwtSecret(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'JSON Web Tokens of users');
}

/** Key that encrypts the secrets of webhooks in the log. */
export function webhookKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'webhooks');
}

/** Key for the names of tags in headers, and for purges in every process with the access key. */
export function tagKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'cache tags');
}

/** Key that signs the sync tokens of the change feed. */
export function syncKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'sync tokens');
}

/** Key that encrypts tickets, with which clients without headers ask for streams. */
export function ticketKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'tickets');
}
