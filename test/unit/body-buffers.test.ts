import { expect, it } from 'vitest';
import { releaseBody, takeBody } from '../../services/query/body-buffers.ts';

const KIB = 2 ** 10;

it('gives a body the memory of the body that was returned last', () => {
  const first = takeBody(20 * KIB);
  const { buffer } = first;
  releaseBody(first);
  const second = takeBody(30 * KIB);
  expect(second.buffer).toBe(buffer);
  expect(second).toHaveLength(30 * KIB);
  expect(takeBody(20 * KIB).buffer).not.toBe(buffer);
});

it('never gives two bodies the same memory, also if one is returned twice', () => {
  const first = takeBody(20 * KIB);
  releaseBody(first);
  releaseBody(first);
  const buffers = [takeBody(20 * KIB), takeBody(20 * KIB), takeBody(20 * KIB)].map(({ buffer }) => buffer);
  expect(new Set(buffers).size).toBe(3);
});

it('keeps only memory that it handed out', () => {
  const foreign = Buffer.allocUnsafeSlow(32 * KIB);
  releaseBody(foreign);
  expect(takeBody(32 * KIB).buffer).not.toBe(foreign.buffer);
});

it.each([0, 1, 4 * KIB - 1, 4 * KIB, 4 * KIB + 1, 2 ** 20, 2 ** 20 + 1, 5 * 2 ** 20])(
  'provides %i bytes, repeatedly',
  (length) => {
    for (let i = 0; i < 3; i++) {
      const body = takeBody(length);
      expect(body).toHaveLength(length);
      body.fill(i);
      releaseBody(body);
    }
  },
);

it('keeps no large bodies, and at most four megabytes', () => {
  const large = takeBody(2 ** 20 + 1);
  releaseBody(large);
  expect(takeBody(2 ** 20 + 1).buffer).not.toBe(large.buffer);
  const bodies = Array.from({ length: 6 }, () => takeBody(2 ** 20));
  for (const body of bodies) releaseBody(body);
  const before = new Set(bodies.map(({ buffer }) => buffer));
  const again = Array.from({ length: 6 }, () => takeBody(2 ** 20));
  expect(again.filter(({ buffer }) => before.has(buffer)).length).toBeLessThanOrEqual(4);
});
