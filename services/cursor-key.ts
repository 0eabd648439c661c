import { createHmac } from 'node:crypto';

/** Cursors go on after a restart, and in every process that has the same access key. */
export function cursorKey(accessKey: Buffer): Uint8Array {
  return createHmac('sha256', accessKey).update('cursors').digest();
}
