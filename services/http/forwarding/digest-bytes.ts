import { createHash } from 'node:crypto';

/** SHA-256 (base64url) and number of the bytes of a stream. */
export function digestBytes() {
  const hash = createHash('sha256');
  let length = 0;
  return {
    add(part: Uint8Array): void {
      hash.update(part);
      length += part.length;
    },
    end: () => ({ digest: hash.digest('base64url'), length }),
  };
}
