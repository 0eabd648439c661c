import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { createAssetNames } from '../asset-names.ts';
import type { AssetNames } from '../asset-store.ts';
import {
  PROMPTLY,
  readingFromS3,
  readS3Text,
  removeS3Object,
  type S3Target,
  writeS3Object,
} from './s3-client.ts';

/** Stores names as objects: `<prefix>names/…`. */
export function s3Names(target: S3Target): AssetNames {
  const { client, bucket: Bucket, prefix } = target;
  const keyOf = (path: string) => `${prefix}names/${path}`;
  return createAssetNames({
    read: (path) => readS3Text(target, keyOf(path)),
    write: (path, text) => writeS3Object(target, keyOf(path), text),
    remove: (path) => removeS3Object(target, keyOf(path)),
    async hasAny(folder) {
      const list = new ListObjectsV2Command({ Bucket, Prefix: `${keyOf(folder)}/`, MaxKeys: 1 });
      return ((await readingFromS3(client.send(list, PROMPTLY)))?.Contents ?? []).length > 0;
    },
  });
}
