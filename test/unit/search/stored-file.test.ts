import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { fastDigestBits } from '../../../shared/fast-digest.ts';
import { createFile, type FileArray, openFile } from '../../../shared/read-index/embedded/stored-file.ts';

type Header = { readonly name: string };

const slices = { pause: () => nextTurn(true), sliceMs: 1 };

/** Arrays of odd lengths. Some are longer than the part that is copied and digested at once. */
const PARTS: readonly FileArray[] = [
  Float64Array.of(0.5, -1),
  BigUint64Array.of(1n, 2n ** 63n),
  Uint8Array.of(1, 2, 3),
  new Int32Array(300_001).map((_, at) => -at),
  new Int32Array(0),
  Uint16Array.of(65_535),
  new Uint8Array(2 ** 20 + 5).fill(9),
];

async function created(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array((await createFile({ name: 'words' }, PARTS, slices)) ?? []);
}

function opened(bytes: Uint8Array<ArrayBuffer>) {
  const opening = openFile<Header>(bytes);
  for (let step = opening.next(); ; step = opening.next()) if (step.done === true) return step.value;
}

it('returns the header and the arrays', async () => {
  const bytes = await created();
  const file = opened(bytes);
  expect(file?.header).toMatchObject({ name: 'words' });
  const { doubles, digests, bytes: small, numbers, shorts } = file?.parts ?? expect.unreachable();
  expect([doubles(), digests(), small(), numbers(), numbers(), shorts(), small()]).toEqual(PARTS);
  expect(Buffer.from(bytes).readBigUInt64LE(0)).toBe(fastDigestBits(bytes.subarray(8)));
});

it('copies nothing when it is opened', async () => {
  const bytes = await created();
  const { doubles } = opened(bytes)?.parts ?? expect.unreachable();
  expect(doubles().buffer).toBe(bytes.buffer);
});

it.each([0, 7, 8, 16, 900, 1_500_000])('is invalid with another byte at %i', async (at) => {
  const bytes = await created();
  bytes[at] = (bytes[at] as number) ^ 1;
  expect(opened(bytes)).toBe(undefined);
});

it('is incomplete if its end is missing', async () => {
  const bytes = await created();
  for (const length of [0, 15, 16, 100, bytes.length - 1])
    expect(opened(bytes.slice(0, length))).toBe(undefined);
});

it('can be ended at a pause', async () => {
  let pauses = 0;
  const pause = async () => ++pauses < 2;
  expect(await createFile({}, PARTS, { pause, sliceMs: 0 })).toBe(undefined);
  expect(pauses).toBe(2);
});
