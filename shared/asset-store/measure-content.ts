import { createHash } from 'node:crypto';
import { AssetTooLarge } from './asset-store.ts';

/** Content on its way into a store. */
export type MeasuredContent = {
  /** The content, which can be read once. Throws AssetTooLarge as soon as it exceeds the limit. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Returns hash and size, after the content was read to its end. */
  measured(): { readonly hash: string; readonly size: number };
  /** Returns the reason why the content ended early: it was too large, or its own error. Failures of the store are not included. */
  failure(): unknown;
};

/** Counts and hashes `content` while it is read. */
export function measureContent(content: AsyncIterable<Uint8Array>, maxBytes: number): MeasuredContent {
  const hash = createHash('sha256');
  let size = 0;
  let failure: unknown;
  return {
    chunks: measure(),
    measured: () => ({ hash: hash.copy().digest('hex'), size }),
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
