import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { PROMPTLY, type S3Target } from './s3-client.ts';

export type S3Copy = {
  readonly from: string;
  readonly to: string;
  /** Size in bytes. */
  readonly size: number;
  /** Size in bytes of the largest object that the store copies in one call. Larger objects are copied in parts of this size. */
  readonly largestCopy: number;
};

/** Copies an object inside the store, without downloading it. */
export async function copyObject(target: S3Target, copy: S3Copy): Promise<void> {
  const { client, bucket } = target;
  if (copy.size > copy.largestCopy) return copyInParts(target, copy);
  const CopySource = sourceOf(bucket, copy.from);
  await client.send(new CopyObjectCommand({ Bucket: bucket, Key: copy.to, CopySource }));
}

async function copyInParts({ client, bucket }: S3Target, { from, to, size, largestCopy }: S3Copy) {
  const target = { Bucket: bucket, Key: to };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  const upload = { ...target, UploadId };
  try {
    const parts: { readonly PartNumber: number; readonly ETag: string | undefined }[] = [];
    for (let start = 0; start < size; start += largestCopy) {
      const PartNumber = parts.length + 1;
      const { CopyPartResult } = await client.send(
        new UploadPartCopyCommand({
          ...upload,
          PartNumber,
          CopySource: sourceOf(bucket, from),
          CopySourceRange: `bytes=${start}-${Math.min(size, start + largestCopy) - 1}`,
        }),
      );
      parts.push({ PartNumber, ETag: CopyPartResult?.ETag });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }));
  } catch (error) {
    // If this fails too, the next process that accepts uploads removes the parts.
    await client.send(new AbortMultipartUploadCommand(upload), PROMPTLY).catch(() => {});
    throw error;
  }
}

function sourceOf(bucket: string, key: string): string {
  return `${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
}
