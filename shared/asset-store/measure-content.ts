import { createHash } from 'node:crypto';
import { AssetTooLarge } from './asset-store.ts';

/** Counts and hashes `content` while it is read. */
export function measureContent(content: AsyncIterable<Uint8Array>, maxBytes: number) {
  const hash = createHash('sha256');
  let size = 0;
  let failure: unknown;
  return {
    /** The content, which can be read once. Throws AssetTooLarge as soon as it exceeds the limit. */
    chunks: measure(),
    /** Returns hash and size, after the content was read to its end. */
    measured: () => ({ hash: hash.copy().digest('hex'), size }),
    /** Returns the reason why the content ended early: it was too large, or its own error. Failures of the store are not included. */
    failure: () => failure,
  };

  async function* measure(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of content) {
        size += chunk.length;
        if (size > maxBytes) throw new AssetTooLarge(maxBytes);
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      failure = error;
      throw error;
    }
  }
}
