import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { nameShape } from '../../services/delivery/generation.ts';
import { hashKey } from '../../services/delivery/hash-key.ts';
import { createAnswerMemory } from '../../services/delivery/known-answers.ts';
import { createRecentKeys } from '../../services/delivery/recent-keys.ts';
import { createTagPositions } from '../../services/delivery/tag-positions.ts';

const memoryOf = (maxBytes: number, position: () => bigint) =>
  createAnswerMemory({
    maxBytes,
    keepsBodies: true,
    position,
    registry,
    positions: createTagPositions(),
  });
const registry = { contentTypes: new Map(), components: new Map() };
const answer = (position: bigint, etag = 'a') => ({ etag, isDraft: false, position });
const whole = (length: number) => ({ ...answer(1n), body: new Uint8Array(length) });

it('finds an answer while the index is at its position', () => {
  let position = 4n;
  const known = memoryOf(100_000, () => position).create();
  known.keep('/a', answer(4n));
  expect(known.find('/a')).toEqual(answer(4n));
  expect(known.find('/b')).toBeUndefined();
  position = 5n;
  expect(known.find('/a')).toBeUndefined();
});

it('drops the least recently requested answers when its memory is full', () => {
  const known = memoryOf(30_000, () => 1n).create();
  known.keep('/kept', answer(1n));
  for (let i = 0; i < 1_000; i++) {
    known.keep(`/${i}`, answer(1n));
    expect(known.find('/kept'), `after ${i}`).toBeDefined();
  }
  expect(known.find('/999')).toBeDefined();
  expect(known.find('/0')).toBeUndefined();
});

it('counts the answers to all callers together', () => {
  const memory = memoryOf(30_000, () => 1n);
  const idle = memory.create();
  idle.keep('/a', answer(1n));
  const busy = memory.create();
  for (let i = 0; i < 1_000; i++) busy.keep(`/${i}`, answer(1n));
  expect(idle.find('/a')).toBeUndefined();
});

it('keeps bodies within its memory, and only the ETag of a large answer', () => {
  const memory = memoryOf(100_000, () => 1n);
  const known = memory.create();
  for (let i = 0; i < 1_000; i++) {
    known.keep(`/${i % 90}`, whole(1_000 + i));
    expect(memory.bytes()).toBeLessThanOrEqual(100_000);
  }
  expect(known.find('/9')?.body).toHaveLength(1_999);
  known.keep('/large', whole(7_000));
  expect(known.find('/large')).toEqual({ ...answer(1n), body: undefined });
});

it('does not keep memory that another answer shares with a body', () => {
  const known = memoryOf(100_000, () => 1n).create();
  known.keep('/a', { ...answer(1n), body: Buffer.from('small, and a part of a pool') });
  expect(known.find('/a')?.body?.buffer.byteLength).toBe(27);
});

it('counts a request as repeated only if its answer could still be cached', () => {
  const repeated = (length: number, distance: number) => {
    const known = memoryOf(1_000_000, () => 1n).create();
    for (let i = 0; i < 1_000; i++) known.keep(`/${i}`, whole(length));
    known.isRepeated('/a');
    for (let i = 1; i < distance; i++) known.isRepeated(`/other/${i}`);
    return known.isRepeated('/a');
  };
  // Half of the memory can hold 47 answers of 10,450 bytes, or 344 of 1,450.
  expect([repeated(10_000, 40), repeated(10_000, 60)]).toEqual([true, false]);
  expect([repeated(1_000, 300), repeated(1_000, 400)]).toEqual([true, false]);
});

it('detects a request that a caller has repeated', () => {
  const memory = memoryOf(100_000, () => 1n);
  const [one, other] = [memory.create(), memory.create()];
  expect(one.isRepeated('/a')).toBe(false);
  expect(one.isRepeated('/a')).toBe(true);
  expect(one.isRepeated('/b')).toBe(false);
  expect(other.isRepeated('/a')).toBe(false);
  const long = 'x'.repeat(5_000);
  expect([one.isRepeated(long), one.isRepeated(long)]).toEqual([false, false]);
});

it('does not count another request with the same hash as repeated', () => {
  const byHash = new Map<number, string>();
  let pair: readonly [string, string] | undefined;
  for (let i = 0; pair === undefined; i++) {
    const key = `/${createHash('md5').update(`${i}`).digest('base64')}`;
    const hash = hashKey(key, 1);
    const other = byHash.get(hash);
    if (other !== undefined) pair = [other, key];
    byHash.set(hash, key);
  }
  const memory = memoryOf(100_000, () => 1n);
  const known = memory.create();
  const [one, other] = pair;
  known.keep(one, answer(1n, 'one'));
  const bytes = memory.bytes();
  expect(known.find(other)).toBeUndefined();
  known.keep(other, answer(1n, 'other'));
  expect([known.find(one), known.find(other)?.etag]).toEqual([undefined, 'other']);
  expect(memory.bytes()).toBeLessThanOrEqual(bytes + 2);
});

it('counts repeated requests as one', () => {
  const known = memoryOf(1_000_000, () => 1n).create();
  for (let i = 0; i < 100; i++) known.keep(`/${i}`, whole(10_000));
  known.isRepeated('/a');
  for (let i = 0; i < 1_000; i++) known.isRepeated('/b');
  expect(known.isRepeated('/a')).toBe(true);
});

it('distinguishes most of 20,000 recent keys from others', () => {
  const isRecent = createRecentKeys();
  const hashOf = (name: string, i: number) => hashKey(`/api/${name}?filters[slug]=r-${i}`);
  for (let i = 0; i < 20_000; i++) isRecent(hashOf('restaurants', i), 65_536);
  let [known, mistaken] = [0, 0];
  for (let i = 0; i < 1_000; i++) {
    if (isRecent(hashOf('restaurants', 19_999 - i), 65_536)) known++;
    if (isRecent(hashOf('chefs', i), 65_536)) mistaken++;
  }
  expect(known).toBeGreaterThan(900);
  expect(mistaken).toBe(0);
});

it('records no changes after a thousand without a request', () => {
  const positions = createTagPositions(100, 10);
  let computed = 0;
  const note = (position: bigint) =>
    positions.note(position, () => {
      computed++;
      return [`tag ${position}`];
    });
  positions.watch();
  for (let i = 1n; i <= 9n; i++) note(i);
  expect(positions.isUnchanged(['other'], 5n)).toBe(true);
  for (let i = 10n; i <= 19n; i++) note(i);
  expect(positions.isUnchanged(['other'], 15n)).toBe(true);
  for (let i = 20n; i <= 40n; i++) note(i);
  expect(computed).toBe(29);
  expect(positions.isUnchanged(['other'], 40n)).toBe(false);
  positions.watch();
  expect(positions.isUnchanged(['other'], 39n)).toBe(false);
  note(41n);
  expect(positions.isUnchanged(['other'], 40n)).toBe(true);
  expect(positions.isUnchanged(['tag 41'], 40n)).toBe(false);
});

it('gives equal shapes the same name, in any order of their members', () => {
  const one = nameShape({ types: new Map([['a', { x: 1, y: new Set(['p', 'q']) }]]), version: '1' });
  const same = nameShape({ version: '1', types: new Map([['a', { y: new Set(['q', 'p']), x: 1 }]]) });
  const other = nameShape({ version: '1', types: new Map([['a', { y: new Set(['q']), x: 1 }]]) });
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});
