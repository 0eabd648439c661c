import type { OwnerStore } from '../owner-record.ts';

/**
 * Port for the content of media files. Bytes are named by their SHA-256, so a client never chooses a name and equal files are stored once.
 * Adapters: a folder, and an S3-compatible store. Every adapter passes test/contract/asset-store-contract.ts.
 *
 * Content arrives in two steps, because its hash is known only at its end. `stage` stores it under a temporary name, and it cannot be
 * opened before `keep`. The caller holds a lock on the hash from `keep` until the event that refers to the content. It also holds the lock
 * while it deletes. So content never disappears while something refers to it.
 */
export type AssetStore = {
  /**
   * Reads `content` to its end. Rejects with AssetTooLarge as soon as it is longer than `maxBytes`, and with the content's own error if it
   * ends early. In both cases nothing of it remains.
   */
  stage(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedAsset>;
  /** Opens the stored content, or a range of it; undefined if there is none. */
  open(hash: string, range?: ByteRange): Promise<StoredAsset | undefined>;
  /** Returns the size of the stored content in bytes; undefined if there is none. */
  size(hash: string): Promise<number | undefined>;
  /** Deletes content. Succeeds if there is none. */
  delete(hash: string): Promise<void>;
  /**
   * Records durably that perhaps no event refers to content of this hash. Call it before `keep`, and before the last reference is deleted.
   * If the process ends before `clear`, this record is how the content is found again.
   */
  suspect(hash: string): Promise<void>;
  /** Removes the record, because an event refers to the content or the content is deleted. */
  clear(hash: string): Promise<void>;
  /** Yields the hashes that were last suspected before a time (milliseconds since 1970) and not cleared. */
  suspects(before: number): AsyncIterable<string>;
  /** Names that content had in another system. */
  readonly names: AssetNames;
  /** Record of the log that writes to this store. */
  readonly owner: OwnerStore;
};

/**
 * Names of imported files. An imported file keeps the name from its URL, which does not follow from its content. One content may have
 * several names.
 */
export type AssetNames = {
  /** Gives a name to stored content, durably. If other content had the name, the name moves to this one. */
  give(name: string, content: NamedContent): Promise<void>;
  find(name: string): Promise<NamedContent | undefined>;
  /** Removes a name. Succeeds if the name does not exist. */
  take(name: string): Promise<void>;
  /** Returns whether the content of this hash has a name. */
  isNamed(hash: string): Promise<boolean>;
};

export type NamedContent = { readonly hash: string; readonly mime: string };

/** Content that arrived completely. Call either `keep` or `discard`, once. */
export type StagedAsset = {
  /** SHA-256 in lower-case hexadecimal: 64 characters. */
  readonly hash: string;
  /** Size in bytes. */
  readonly size: number;
  /** Resolves when the content is durable and can be opened. Does nothing if it is stored already. */
  keep(): Promise<void>;
  discard(): Promise<void>;
};

/** First and last byte, both included, counted from 0. */
export type ByteRange = { readonly start: number; readonly end: number };

export type StoredAsset = {
  /** Bytes of the whole content, also for a range. */
  readonly size: number;
  /** Content of the asset. The caller must read it to its end or destroy it. */
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
