import { expect, it } from 'vitest';
import { nameShape } from '../../services/delivery/generation.ts';
import { createAnswerMemory } from '../../services/delivery/known-answers.ts';
import { createTagPositions } from '../../services/delivery/tag-positions.ts';

const memoryOf = (maxBytes: number, position: () => bigint) =>
  createAnswerMemory({ maxBytes, position, registry, positions: createTagPositions() });
const registry = { contentTypes: new Map(), components: new Map() };
const answer = (position: bigint, etag = 'a') => ({ etag, isDraft: false, position });

it('finds an answer while the index is at its position', () => {
  let position = 4n;
  const known = memoryOf(100_000, () => position).create();
  known.keep('/a', answer(4n));
  expect(known.find('/a')).toEqual(answer(4n));
  expect(known.find('/b')).toBeUndefined();
  position = 5n;
  expect(known.find('/a')).toBeUndefined();
});

it('drops what was not asked for lately when its memory is full', () => {
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

it('names equal shapes alike, in whatever order they are written', () => {
  const one = nameShape({ types: new Map([['a', { x: 1, y: new Set(['p', 'q']) }]]), version: '1' });
  const same = nameShape({ version: '1', types: new Map([['a', { y: new Set(['q', 'p']), x: 1 }]]) });
  const other = nameShape({ version: '1', types: new Map([['a', { y: new Set(['q']), x: 1 }]]) });
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});
