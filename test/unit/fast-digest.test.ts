import { expect, it } from 'vitest';
import xxhash from 'xxhash-wasm';
import { fastDigest, fastTextDigest } from '../../shared/fast-digest.ts';

it('is XXH64', () => {
  expect(fastDigest(Buffer.from(''))).toBe(0xef46db3751d8e999n.toString(36));
  expect(fastDigest(Buffer.from('abc'))).toBe(0x44bc2cf5ad770999n.toString(36));
});

it('is the same for a content that is digested in parts', async () => {
  const { h64Raw } = await xxhash();
  const bytes = Buffer.alloc(3 * 2 ** 20 + 5, 'Trattoria da Enzo');
  expect(fastDigest(bytes)).toBe(h64Raw(bytes).toString(36));
  bytes[2 ** 20] = 0;
  expect(fastDigest(bytes)).toBe(h64Raw(bytes).toString(36));
});

it('distinguishes texts that differ in one character at any position', () => {
  const before = 2 ** 18 - 1;
  const [one, other] = ['😀', '😁'].map((face) => 'x'.repeat(before) + face + 'x'.repeat(2 ** 18));
  expect(fastTextDigest(one as string)).not.toBe(fastTextDigest(other as string));
});

it.each([10, 2 ** 19])('digests a text of %i characters as its bytes', (length) => {
  const text = 'é'.repeat(length);
  expect(fastTextDigest(text).toString(36)).toBe(fastDigest(Buffer.from(text)));
});
