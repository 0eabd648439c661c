import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { createAssetNames } from '../asset-names.ts';
import type { AssetNames } from '../asset-store.ts';
import { PROMPTLY, readingFromS3, type S3Target } from './s3-client.ts';

/** Stores names as objects: `<prefix>names/…`. */
export function s3Names({ client, bucket: Bucket, prefix }: S3Target): AssetNames {
  const keyOf = (path: string) => `${prefix}names/${path}`;
  return createAssetNames({
    async read(path) {
      const found = await readingFromS3(
        client.send(new GetObjectCommand({ Bucket, Key: keyOf(path) }), PROMPTLY),
      );
      return found?.Body?.transformToString();
    },
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
