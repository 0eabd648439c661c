import { hmac } from '../../shared/text-digest.ts';

/** Cursors go on after a restart, and in every process that has the same access key. */
export function cursorKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'cursors');
}

/** A process that follows a Strapi is asked by others of its log to read a document. */
export function followKey(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'follow');
}

/**
 * Names under which uploaded content is served: the same for the same content, in every process that has the access key. Who has a file
 * cannot work its name out, and so cannot ask whether it is stored.
 */
export function uploadNames(accessKey: Uint8Array): (hash: string) => string {
  return (hash) => hmac(accessKey, `uploaded file ${hash}`).toString('hex');
}

/** 256 bits that JWTs are signed with where no other secret is given: the same in every process that has the access key. */
export function jwtSecret(accessKey: Uint8Array): Uint8Array {
  return hmac(accessKey, 'JSON Web Tokens of users');
}
