import { expect, it } from 'vitest';
import { countDocuments, differenceOf } from '../../services/elasticsearch/count-documents.ts';
import {
  createWatchState,
  know,
  type WatchIndicesOptions,
} from '../../services/elasticsearch/watch-state.ts';
import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

const TYPE = 'api::tag.tag' as Uid;
const [ALIAS, INDEX] = ['v-tag-draft', 'v-tag-draft-1'];
const CONTENT = { uuid: 'u', isOpen: true, isAssigned: true, histories: 'h', nodes: 'n', operations: 5 };
const EXACTLY_3 = { least: 3, most: 3 };

it.for([
  ['as many as expected', EXACTLY_3, 3, 0],
  ['too few', EXACTLY_3, 1, -2],
  ['too many', EXACTLY_3, 4, 1],
  ['a refused one missing', { least: 2, most: 4 }, 2, 0],
  ['a refused one of a deleted row', { least: 2, most: 4 }, 4, 0],
  ['an index that does not answer', EXACTLY_3, undefined, undefined],
] as const)('compares %s', ([, expected, found, difference]) => {
  expect(differenceOf({ expected, state: 's' }, 's', found)).toBe(difference);
  expect(differenceOf({ expected, state: 's' }, 'other', found)).toBeUndefined();
  expect(differenceOf({ expected, state: 's' }, undefined, found)).toBeUndefined();
});

/** A leader with one index of three documents, of which searches find `found`. */
function watchOne() {
  const given = {
    found: 3,
    content: CONTENT,
    expected: EXACTLY_3 as typeof EXACTLY_3 | undefined,
    isNewest: true,
    /** Called when the index is counted. */
    counting: () => {},
  };
  const asked: string[] = [];
  const errors: string[] = [];
  const contents = () => new Map([[INDEX, given.content]]);
  const state = createWatchState({
    cluster: {
      watched: {
        ...{ aliases: new Map([[ALIAS, TYPE]]), faults: createKnownFaults() },
        observer: {
          contents: async () => contents(),
          refresh: async (indices: readonly string[]) => void asked.push(...indices.map(() => 'refresh')),
          async count(indices: readonly string[]) {
            asked.push('count');
            given.counting();
            return indices.map(() => given.found);
          },
        },
      },
    },
    stale: { counted: () => given.expected },
    isNewest: async () => given.isNewest,
    report: { error: (_: object, message: string) => errors.push(message) },
    ...{ epoch: 1, signal: new AbortController().signal },
  } as unknown as WatchIndicesOptions);
  const adopt = () => {
    state.lost.clear();
    state.contents = contents();
    know(state, { [ALIAS]: INDEX });
  };
  adopt();
  return {
    ...{ given, asked, errors, state, adopt },
    /** Looks as the watch does. Returns the reason of the fault. */
    async look() {
      state.contents = contents();
      await countDocuments(state);
      return state.lost.get(TYPE)?.reason;
    },
  };
}

it('finds a fault when two looks have the same difference, the second one after a refresh', async () => {
  const { given, asked, look, state } = watchOne();
  given.found = 1;
  expect(await look()).toBeUndefined();
  expect(await look()).toBe(`its index ${INDEX} lacks 2 documents: another program has written it`);
  expect(asked).toEqual(['count', 'refresh', 'count']);
  expect(state.lost.get(TYPE)).toMatchObject({ kind: 'foreign', refusesReads: true });
  given.found = 9;
  await look();
  // Nothing is counted while the index is made again.
  expect(asked).toHaveLength(3);
});

it('names documents that are too many', async () => {
  const { given, look } = watchOne();
  given.found = 4;
  await look();
  expect(await look()).toMatch(/has 1 document too many/);
});

it('sends nothing for an index that has carried out no write since it was right', async () => {
  const { given, asked, look } = watchOne();
  await look();
  await look();
  expect(asked).toEqual(['count']);
  given.content = { ...CONTENT, operations: 6 };
  await look();
  await look();
  expect(asked).toEqual(['count', 'count']);
});

it('sends nothing while documents are on the way, and forgets what it suspected', async () => {
  const { given, asked, look } = watchOne();
  given.found = 2;
  await look();
  given.expected = undefined;
  await look();
  given.expected = EXACTLY_3;
  expect(await look()).toBeUndefined();
  expect(asked).toEqual(['count', 'count']);
});

it.for<[string, (watch: ReturnType<typeof watchOne>, look: number) => void]>([
  ['the difference changes', ({ given }, look) => Object.assign(given, { found: look % 2 })],
  [
    'the index is written during each count',
    ({ given }) => {
      given.found = 1;
      given.counting = () => {
        given.content = { ...given.content, operations: given.content.operations + 1 };
      };
    },
  ],
  [
    'the graph changes during each count',
    ({ given }, look) => {
      given.found = 1;
      given.counting = () => {
        given.expected = { least: 3 + look, most: 3 + look };
      };
    },
  ],
  ['another process is the leader', ({ given }) => Object.assign(given, { found: 1, isNewest: false })],
])('finds no fault while %s', async ([, change]) => {
  const watch = watchOne();
  for (let look = 1; look < 6; look++) {
    change(watch, look);
    expect(await watch.look()).toBeUndefined();
  }
  expect(watch.asked).toContain('count');
});

it('makes an index again once, and reports that it differs again', async () => {
  const { given, look, adopt, errors } = watchOne();
  given.found = 1;
  await look();
  expect(await look()).toBeDefined();
  adopt();
  for (let n = 0; n < 4; n++) expect(await look()).toBeUndefined();
  expect(errors).toEqual(['an index that was made again has other documents: run `varve verify`']);
});

it('makes an index again that another program has written before its first count, three times', async () => {
  const { given, look, adopt, errors } = watchOne();
  for (const found of [2, 4, 5]) {
    given.found = found;
    await look();
    expect(await look()).toBeDefined();
    adopt();
  }
  given.found = 6;
  for (let n = 0; n < 3; n++) expect(await look()).toBeUndefined();
  expect(errors).toHaveLength(1);
});

it('makes an index again that was right in between', async () => {
  const { given, look, adopt } = watchOne();
  given.found = 1;
  await look();
  await look();
  adopt();
  given.found = 3;
  await look();
  given.content = { ...CONTENT, operations: 7 };
  given.found = 2;
  await look();
  expect(await look()).toMatch(/lacks 1 document:/);
});
