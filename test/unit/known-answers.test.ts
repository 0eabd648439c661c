import { expect, it } from 'vitest';
import { nameShape } from '../../services/delivery/generation.ts';
import { createAnswerMemory } from '../../services/delivery/known-answers.ts';
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
  // A request counts as repeated after fewer others than half of the memory can hold: surely after half as many.
  // Half of the memory can hold 47 answers of 10,450 bytes, or 344 of 1,450.
  expect([repeated(10_000, 23), repeated(10_000, 60)]).toEqual([true, false]);
  expect([repeated(1_000, 170), repeated(1_000, 400)]).toEqual([true, false]);
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

it('counts repeated requests as one', () => {
  const known = memoryOf(1_000_000, () => 1n).create();
  for (let i = 0; i < 100; i++) known.keep(`/${i}`, whole(10_000));
  known.isRepeated('/a');
  for (let i = 0; i < 1_000; i++) known.isRepeated('/b');
  expect(known.isRepeated('/a')).toBe(true);
});

it('forgets requests with long keys sooner than others', () => {
  const known = memoryOf(2 ** 30, () => 1n).create();
  const ask = (length: number) => {
    known.isRepeated('/a');
    // A half has 4 Mi characters.
    for (let i = 0; i < 2_100; i++) known.isRepeated(`/${i}`.padEnd(length, 'x'));
    return known.isRepeated('/a');
  };
  expect([ask(10), ask(4_096)]).toEqual([true, false]);
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
