import { expect, it } from 'vitest';
import { createStreamCounts } from '../../shared/count-streams.ts';

const MAXIMUMS = { total: 3, perCaller: 2 };
const TOTAL = { found: 3, option: '--streams' };
const OWN = { found: 2, option: '--streams-per-caller' };

it('adds up the streams of all processes, in total and for each caller', () => {
  const counts = createStreamCounts<string>();
  const add = (process: string, caller: string) => counts.add(process, caller, MAXIMUMS);
  expect([add('p', 'a'), add('q', 'a')]).toEqual([undefined, undefined]);
  expect([add('p', 'a'), add('q', 'a')]).toEqual([OWN, OWN]);
  expect(add('q', 'b')).toBeUndefined();
  expect([add('p', 'c'), add('q', 'a')]).toEqual([TOTAL, TOTAL]);
  counts.remove('p', 'a');
  expect(add('q', 'a')).toBeUndefined();
});

it('forgets the streams of a process that has ended, and no others', () => {
  const counts = createStreamCounts<string>();
  const add = (process: string, caller: string) => counts.add(process, caller, MAXIMUMS);
  expect([add('p', 'a'), add('p', 'a'), add('q', 'b')]).toEqual([undefined, undefined, undefined]);
  counts.clear('p');
  // They end now, and were forgotten before.
  counts.remove('p', 'a');
  counts.remove('q', 'a');
  expect([add('q', 'a'), add('q', 'a'), add('q', 'b')]).toEqual([undefined, undefined, TOTAL]);
  counts.clear('q');
  counts.clear('q');
  expect([add('r', 'b'), add('r', 'b'), add('r', 'b')]).toEqual([undefined, undefined, OWN]);
});

it('a maximum of 0 refuses every stream', () => {
  const counts = createStreamCounts<string>();
  expect(counts.add('p', 'a', { total: 0, perCaller: 1 })).toEqual({ found: 0, option: '--streams' });
  expect(counts.add('p', 'a', { total: 1, perCaller: 0 })).toEqual({
    found: 0,
    option: '--streams-per-caller',
  });
});
