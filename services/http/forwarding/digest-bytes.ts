import { createHash } from 'node:crypto';

/** Creates a digest of a stream: the SHA-256 of its bytes (base64url), and their number. */
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
