import type { OwnerStore } from '../owner-record.ts';

/**
 * The port of the media content: bytes named by the SHA-256 of what they are, so a name is never a client's and equal files
 * are kept once. Adapters: a folder, and an S3-compatible store. Every adapter passes test/contract/asset-store-contract.ts.
 *
 * Content arrives in two steps, because only its end tells its hash: `stage` takes it in under a name of its own, and
 * nothing can be opened before `keep`. The caller holds a lock on the hash between `keep` and the event that refers to it,
 * and again while it deletes, so that content never disappears under a reference.
 */
export type AssetStore = {
  /**
   * Takes `content` to its end. Rejects with AssetTooLarge as soon as it is longer than `maxBytes`, and with the content's
   * own error when it breaks off; nothing of it stays behind then.
   */
  stage(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedAsset>;
  /** The stored content, or one stretch of it; undefined when there is none. */
  open(hash: string, range?: ByteRange): Promise<StoredAsset | undefined>;
  /** Bytes of the stored content; undefined when there is none. */
  size(hash: string): Promise<number | undefined>;
  /** What is not there counts as deleted. */
  delete(hash: string): Promise<void>;
  /**
   * Notes durably that nothing may be naming content of this hash: before it is kept, and before what names it goes. Should the
   * process end before `clear`, the note is what finds the content again.
   */
  suspect(hash: string): Promise<void>;
  /** Takes the note back: the content is named, or gone. */
  clear(hash: string): Promise<void>;
  /** What was last suspected before a moment (milliseconds since 1970) and not cleared. */
  suspects(before: number): AsyncIterable<string>;
  /** Names that kept content had elsewhere. */
  readonly names: AssetNames;
  /** Which log writes here. */
  readonly owner: OwnerStore;
};

/** An imported file keeps the name of its URL, which does not follow from its content. One content may have several names. */
export type AssetNames = {
  /** Names kept content, durably. A name that meant other content means this one. */
  give(name: string, content: NamedContent): Promise<void>;
  find(name: string): Promise<NamedContent | undefined>;
  /** What is not there counts as taken. */
  take(name: string): Promise<void>;
  /** Whether the content of this hash has a name. */
  isNamed(hash: string): Promise<boolean>;
};

export type NamedContent = { readonly hash: string; readonly mime: string };

/** Content that arrived whole. One of `keep` and `discard` is called, once. */
export type StagedAsset = {
  /** SHA-256 in lower-case hexadecimal: 64 characters. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Resolves when the content is durable and can be opened; harmless when it is there already. */
  keep(): Promise<void>;
  discard(): Promise<void>;
};

/** First and last byte, both included, counted from 0. */
export type ByteRange = { readonly start: number; readonly end: number };

export type StoredAsset = {
  /** Bytes of the whole content, whatever the range. */
  readonly size: number;
  /** To be read to its end or destroyed. */
  readonly content: NodeJS.ReadableStream & AsyncIterable<Uint8Array>;
};

export class AssetTooLarge extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the content is longer than ${maxBytes} bytes`);
    this.name = 'AssetTooLarge';
    this.maxBytes = maxBytes;
  }
}
