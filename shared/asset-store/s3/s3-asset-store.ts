import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { parseOwners, presentOwners } from '../../owner-record.ts';
import { valueWithin } from '../../value-within.ts';
import { checkedHash, isHash } from '../asset-hash.ts';
import type { AssetStore, ByteRange, StagedAsset, StoredAsset } from '../asset-store.ts';
import { measureContent } from '../measure-content.ts';
import { removeAbandonedUploads } from './s3-abandoned-uploads.ts';
import {
  createS3Client,
  PROMPTLY,
  presentS3Error,
  readingFromS3,
  readS3Text,
  removeS3Object,
  type S3Target,
  statusOf,
  writeS3Object,
  writingToS3,
} from './s3-client.ts';
import { copyObject } from './s3-copy-object.ts';
import type { S3Location } from './s3-location.ts';
import { s3Names } from './s3-names.ts';

export type S3AssetStoreOptions = {
  /** Size in bytes from which copies are made in parts. Default: the protocol's limit. */
  readonly largestCopy?: number;
};

const MEBIBYTE = 1024 * 1024;
/**
 * Limits of an upload's parts. The protocol sets the smallest part and the number of parts. The largest part is in memory while it is sent.
 */
const SMALLEST_PART = 5 * MEBIBYTE;
const LARGEST_PART = 128 * MEBIBYTE;
const MAX_PARTS = 10_000;
const PARTS_AT_ONCE = 2;
const CHECK_MS = 5_000;
const LARGEST_COPY = 5 * 1024 * MEBIBYTE;

/**
 * Stores assets as objects of a bucket: `<prefix><first two characters of the hash>/<hash>`. `<prefix>incoming/` has uploads in progress,
 * in parts; `<prefix>suspects/` has an empty object for each suspected hash. S3 cannot rename objects, so `keep` makes the store copy one.
 * Any number of processes may share the bucket. Rejects with a message if the bucket does not exist or refuses the credentials. If the
 * store is only unreachable, the start does not wait for it, but requests do.
 */
export async function openS3AssetStore(
  location: S3Location,
  { largestCopy = LARGEST_COPY }: S3AssetStoreOptions = {},
): Promise<AssetStore> {
  const target: S3Target = { ...location, client: createS3Client(location) };
  // A start does not wait as long as a request for a store that does not answer.
  await valueWithin(CHECK_MS, checkBucket(target));
  let cleans = false;
  return {
    stage(content, maxBytes) {
      // Only processes that accept uploads clean up. If this fails, the next such process retries.
      if (!cleans) void removeAbandonedUploads(target, Date.now()).catch(() => {});
      cleans = true;
      return stage(target, content, maxBytes, largestCopy);
    },
    open: (hash, range) => readingFromS3(open(target, keyOf(target, hash), range)),
    size: (hash) => readingFromS3(sizeOf(target, keyOf(target, hash))),
    delete: (hash) => removeS3Object(target, keyOf(target, hash)),
    suspect: (hash) => writeS3Object(target, suspectKey(target, hash), ''),
    clear: (hash) => removeS3Object(target, suspectKey(target, hash)),
    suspects: (before) => suspectedBefore(target, before),
    names: s3Names(target),
    owner: ownerObject(target),
  };
}

function ownerObject(target: S3Target): AssetStore['owner'] {
  const Key = `${target.prefix}owner.json`;
  return {
    async read() {
      const text = await readS3Text(target, Key);
      return text === undefined ? {} : parseOwners(text, Key).owners;
    },
    write: (owners) => writeS3Object(target, Key, presentOwners(owners)),
  };
}

async function checkBucket({ client, bucket }: S3Target): Promise<void> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }), PROMPTLY);
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) throw new Error(`--assets: there is no bucket ${bucket}: create it first`);
    if (status === 403) throw new Error(`--assets: the bucket ${bucket} refuses these credentials`);
    if (status === undefined && isMisconfigured(error)) {
      throw new Error(`--assets: ${(error as Error).message}`);
    }
  }
}

/** Returns whether the SDK found no credentials or no region: no retry will help. */
function isMisconfigured(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'CredentialsProviderError' || message.startsWith('Region is missing');
}

async function stage(
  target: S3Target,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
  largestCopy: number,
): Promise<StagedAsset> {
  const { client, bucket, prefix } = target;
  const key = `${prefix}incoming/${randomUUID()}`;
  const { chunks, measured, failure } = measureContent(content, maxBytes);
  const body = Readable.from(chunks, { objectMode: false });
  try {
    await new Upload({
      client,
      params: { Bucket: bucket, Key: key, Body: body, ContentType: 'application/octet-stream' },
      partSize: Math.min(LARGEST_PART, Math.max(SMALLEST_PART, Math.ceil(maxBytes / MAX_PARTS))),
      queueSize: PARTS_AT_ONCE,
    }).done();
  } catch (error) {
    throw failure() ?? presentS3Error(error);
  } finally {
    body.destroy();
  }
  const { hash, size } = measured();
  return {
    hash,
    size,
    async keep() {
      await writingToS3(copyObject(target, { from: key, to: keyOf(target, hash), size, largestCopy }));
      // The object is already kept. If the removal fails, a later process removes the upload after a day.
      await removeS3Object(target, key).catch(() => {});
    },
    discard: () => removeS3Object(target, key),
  };
}

async function* suspectedBefore(target: S3Target, before: number): AsyncGenerator<string> {
  const { client, bucket: Bucket, prefix } = target;
  const Prefix = `${prefix}suspects/`;
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix }, PROMPTLY)) {
    for (const { Key = '', LastModified } of Contents) {
      const name = Key.slice(Prefix.length);
      if (isHash(name) && LastModified !== undefined && LastModified.getTime() < before) yield name;
    }
  }
}

async function open(
  { client, bucket }: S3Target,
  key: string,
  range: ByteRange | undefined,
): Promise<StoredAsset> {
  const { Body, ContentLength, ContentRange } = await client.send(
    new GetObjectCommand({
      Bucket: bucket,
      Key: key,
      ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }),
    }),
    PROMPTLY,
  );
  const [, total] = /\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  return { size: Number(total ?? ContentLength), content: Body as Readable };
}

async function sizeOf({ client, bucket }: S3Target, key: string): Promise<number> {
  const { ContentLength = 0 } = await client.send(
    new HeadObjectCommand({ Bucket: bucket, Key: key }),
    PROMPTLY,
  );
  return ContentLength;
}

function keyOf({ prefix }: S3Target, hash: string): string {
  return `${prefix}${checkedHash(hash).slice(0, 2)}/${hash}`;
}

function suspectKey({ prefix }: S3Target, hash: string): string {
  return `${prefix}suspects/${checkedHash(hash)}`;
}
