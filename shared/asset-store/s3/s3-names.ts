import { hash as digest } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { checkedHash } from '../asset-hash.ts';
import type { AssetNames, NamedContent } from '../asset-store.ts';
import { readingFromS3, type S3Target } from './s3-client.ts';

/** Names as objects, in the form that folder-names.ts has them as files: `<prefix>names/…`. */
export function s3Names({ client, bucket: Bucket, prefix }: S3Target): AssetNames {
  const keyOf = (name: string) => `${prefix}names/${digest('sha256', name)}`;
  const marksOf = (hash: string) => `${prefix}names/of/${checkedHash(hash)}/`;
  const markOf = (hash: string, name: string) => `${marksOf(hash)}${digest('sha256', name)}`;
  const put = (Key: string, Body: string) =>
    readingFromS3(client.send(new PutObjectCommand({ Bucket, Key, Body })));
  const remove = (Key: string) => readingFromS3(client.send(new DeleteObjectCommand({ Bucket, Key })));
  const find = async (name: string): Promise<NamedContent | undefined> => {
    const found = await readingFromS3(client.send(new GetObjectCommand({ Bucket, Key: keyOf(name) })));
    const text = await found?.Body?.transformToString();
    if (text === undefined) return undefined;
    const { hash, mime } = JSON.parse(text) as NamedContent;
    return { hash, mime };
  };
  return {
    find,
    async give(name, { hash, mime }) {
      const before = await find(name);
      await put(markOf(hash, name), '');
      await put(keyOf(name), JSON.stringify({ name, hash, mime }));
      if (before !== undefined && before.hash !== hash) await remove(markOf(before.hash, name));
    },
    async take(name) {
      const before = await find(name);
      if (before === undefined) return;
      await remove(keyOf(name));
      await remove(markOf(before.hash, name));
    },
    async isNamed(hash) {
      const list = new ListObjectsV2Command({ Bucket, Prefix: marksOf(hash), MaxKeys: 1 });
      return ((await readingFromS3(client.send(list)))?.Contents ?? []).length > 0;
    },
  };
}
