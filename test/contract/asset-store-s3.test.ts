import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openAssetStore } from '../../services/stores/open-asset-store.ts';
import { openS3AssetStore, type S3AssetStoreOptions } from '../../shared/asset-store/s3/s3-asset-store.ts';
import { parseS3Location } from '../../shared/asset-store/s3/s3-location.ts';
import { S3_CREDENTIALS, type S3Double, type S3DoubleOptions, startS3Double } from '../support/s3-double.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeAssetStore } from './asset-store-contract.ts';

beforeAll(() => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
});
afterAll(() => {
  vi.unstubAllEnvs();
});

describeAssetStore('S3 double', async () => {
  const double = await startS3Double();
  return {
    open: () => openAssetStore(double.address),
    names: async () => double.names(),
    remove: () => double.close(),
  };
});

const MEBIBYTE = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

async function doubleForTest(options?: S3DoubleOptions): Promise<S3Double> {
  const double = await startS3Double(options);
  onTestFinished(() => double.close());
  return double;
}

function openOn(double: S3Double, options?: S3AssetStoreOptions) {
  return openS3AssetStore(parseS3Location(double.address), options);
}

describe('uploads in parts', () => {
  it('sends long content in parts as it arrives, and copies it inside the store', async () => {
    const double = await doubleForTest();
    const store = await openOn(double);
    const bytes = randomBytes(12 * MEBIBYTE);
    const staged = await store.stage(chunks(bytes), 20 * MEBIBYTE);
    await staged.keep();
    expect(double.requests.filter((name) => name === 'PUT part')).toHaveLength(3);
    expect(double.names()).toEqual([`media/${staged.hash.slice(0, 2)}/${staged.hash}`]);
    const opened = await store.open(staged.hash);
    expect(Buffer.concat(await Array.fromAsync(opened!.content)).equals(bytes)).toBe(true);
  });

  it('copies in parts content that is too long for one copy', async () => {
    const double = await doubleForTest({ largestCopy: 1000 });
    const store = await openOn(double, { largestCopy: 1000 });
    const bytes = randomBytes(2500);
    const staged = await store.stage(chunks(bytes), 2500);
    await staged.keep();
    expect(double.requests.filter((name) => name === 'PUT part copy')).toHaveLength(3);
    const opened = await store.open(staged.hash, { start: 999, end: 2001 });
    expect(Buffer.concat(await Array.fromAsync(opened!.content)).equals(bytes.subarray(999, 2002))).toBe(
      true,
    );
  });

  it('leaves no parts of an interrupted upload', async () => {
    const double = await doubleForTest();
    const store = await openOn(double);
    const broken = async function* () {
      yield* chunks(randomBytes(6 * MEBIBYTE));
      throw new Error('the line went dead');
    };
    await expect(store.stage(broken(), 20 * MEBIBYTE)).rejects.toThrow('the line went dead');
    expect(double.requests).toContain('DELETE part');
    expect(double.names()).toEqual([]);
  });
});

it('a name that a store without the bucket refuses is not lost silently, and a missing object can be removed', async () => {
  const double = await doubleForTest();
  const store = await openOn(double);
  double.failWith(404);
  await expect(store.names.give('a.png', { hash: 'a'.repeat(64), mime: 'image/png' })).rejects.toThrow();
  await store.delete('a'.repeat(64));
  await store.clear('a'.repeat(64));
});

it('removes only what killed processes left unfinished a day ago', async () => {
  const double = await doubleForTest();
  const client = await openOn(double);
  await (await client.stage(chunks(Buffer.from('kept')), 10)).keep();
  await client.stage(chunks(Buffer.from('left')), 10);
  const sign = { authorization: 'AWS4-HMAC-SHA256 Credential=test' };
  await fetch(`${double.endpoint}/assets/media/incoming/parts?uploads`, { method: 'POST', headers: sign });
  double.age(DAY_MS + 1);
  const recent = await client.stage(chunks(Buffer.from('recent')), 10);
  const next = await openOn(double);
  await (await next.stage(chunks(Buffer.from('x')), 10)).discard();
  await expect.poll(() => double.names()).toHaveLength(2);
  expect(double.names().filter((name) => !name.includes('incoming/'))).toHaveLength(1);
  await recent.keep();
  expect(double.names()).toHaveLength(2);
});

describe('a store that does not answer', () => {
  it.each([500, 503])('is a 503 and not an error of the request, if the store answers %i', async (status) => {
    const double = await doubleForTest();
    const store = await openOn(double);
    double.failWith(status);
    const unavailable = { code: 'asset-store-unavailable' };
    await expect(store.size('a'.repeat(64))).rejects.toMatchObject(unavailable);
    await expect(store.stage(chunks(Buffer.from('x')), 10)).rejects.toMatchObject(unavailable);
  });

  it('does not keep a process from starting', async () => {
    const double = await startS3Double();
    await double.close();
    const store = await openOn(double);
    await expect(store.open('a'.repeat(64))).rejects.toMatchObject({ code: 'asset-store-unavailable' });
  });
});

describe('refuses an invalid address with one clear sentence', () => {
  it.each([
    ['s3://', 'names no bucket: use s3://bucket/prefix'],
    ['s3://me:secret@bucket', 'contains a secret: pass it as AWS_ACCESS_KEY_ID'],
    ['s3://bucket?regoin=x', 'has the unknown parameter regoin: use endpoint, region, path-style'],
    ['s3://bucket?endpoint=ftp://x', 'has the endpoint "ftp://x", which is not an http or https address'],
    ['s3://bucket?path-style=yes', 'has path-style=yes, which must be true or false'],
  ])('%s', (address, sentence) => {
    expect(() => parseS3Location(address)).toThrow(sentence);
  });

  it('accepts every parameter', () => {
    expect(parseS3Location('s3://b/a/b/?endpoint=https://s3.example.org&region=eu&path-style=false')).toEqual(
      {
        bucket: 'b',
        prefix: 'a/b/',
        endpoint: 'https://s3.example.org',
        region: 'eu',
        pathStyle: false,
      },
    );
    expect(parseS3Location('s3://b')).toEqual({
      bucket: 'b',
      prefix: '',
      endpoint: undefined,
      region: undefined,
      pathStyle: false,
    });
  });

  it('a bucket that does not exist', async () => {
    const { endpoint } = await doubleForTest();
    await expect(openAssetStore(`s3://other?endpoint=${endpoint}`)).rejects.toThrow(
      '--assets: there is no bucket other: create it first',
    );
  });

  it('credentials that are refused', async () => {
    const double = await doubleForTest();
    double.failWith(403);
    await expect(openOn(double)).rejects.toThrow('the bucket assets refuses these credentials');
  });
});

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

it('gives up on a store that closes the connection in the middle of an answer', {
  ...takesMinutes('answers of an asset store that break off'),
  timeout: 300_000,
}, async () => {
  const double = await doubleForTest();
  const store = await openOn(double);
  const staged = await store.stage(Readable.from([Buffer.from('a whole file')]), 100);
  await staged.keep();
  await store.suspect(staged.hash);
  await store.owner.write({});
  double.breakOffAfter(5);
  const unavailable = { code: 'asset-store-unavailable' };
  const content = async () => buffer((await store.open(staged.hash))?.content ?? Readable.from([]));
  await Promise.all([
    expect(content()).rejects.toMatchObject(unavailable),
    expect(Array.fromAsync(store.suspects(Date.now() + DAY_MS))).rejects.toMatchObject(unavailable),
    expect(store.owner.read()).rejects.toMatchObject(unavailable),
  ]);
});
