import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { createAssetNames } from '../asset-names.ts';
import type { AssetNames } from '../asset-store.ts';
import { PROMPTLY, readingFromS3, readS3Text, type S3Target } from './s3-client.ts';

/** Stores names as objects: `<prefix>names/…`. */
export function s3Names(target: S3Target): AssetNames {
  const { client, bucket: Bucket, prefix } = target;
  const keyOf = (path: string) => `${prefix}names/${path}`;
  return createAssetNames({
    read: (path) => readS3Text(target, keyOf(path)),
    async write(path, Body) {
      await readingFromS3(client.send(new PutObjectCommand({ Bucket, Key: keyOf(path), Body }), PROMPTLY));
    },
    async remove(path) {
      await readingFromS3(client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(path) }), PROMPTLY));
    },
    async hasAny(folder) {
      const list = new ListObjectsV2Command({ Bucket, Prefix: `${keyOf(folder)}/`, MaxKeys: 1 });
      return ((await readingFromS3(client.send(list, PROMPTLY)))?.Contents ?? []).length > 0;
    },
  });
}
