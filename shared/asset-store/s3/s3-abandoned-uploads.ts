import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import type { S3Target } from './s3-client.ts';

/** Longer than any upload takes: older unfinished uploads belong to processes that have ended. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Removes uploads that killed processes left a day or more before `now`. These are whole objects that were never kept, and parts of others.
 */
export async function removeAbandonedUploads(target: S3Target, now: number): Promise<void> {
  const { client, bucket, prefix } = target;
  const isOld = (at: Date | undefined) => at !== undefined && at.getTime() < now - ABANDONED_MS;
  const incoming = { Bucket: bucket, Prefix: `${prefix}incoming/` };
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, incoming)) {
    for (const { Key, LastModified } of Contents) {
      if (isOld(LastModified)) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    }
  }
  // Only one page is read. The next process handles the others. Parts of copies are under other keys than `incoming/`.
  const unfinished = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }));
  for (const { Key, UploadId, Initiated } of unfinished.Uploads ?? []) {
    if (isOld(Initiated)) {
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
  }
}
