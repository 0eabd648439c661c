import { expect, it } from 'vitest';
import { createLayouts } from '../../shared/read-index/elasticsearch/layout/create-layouts.ts';
import {
  DEFAULT_DENORMALISE,
  type DocumentLayout,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { Session } from '../../shared/read-index/elasticsearch/read/session.ts';
import { traverseRows } from '../../shared/read-index/elasticsearch/read/traverse-rows.ts';
import { linkingKeys } from '../../shared/read-index/elasticsearch/read/traverse-step.ts';
import { AUTHOR, libraryRegistry } from '../contract/read-index-library.ts';

const STEP = { target: 'api::dish.dish', mappedBy: 'menu' };

/** A search that `linkingRows` sends to Elasticsearch. */
type Asked = {
  readonly size: number;
  readonly query: object;
  readonly sort?: unknown;
};

/** Returns the links of a row in their stored form. */
const linksOf = (attribute: string, parent: number, order: number) =>
  Buffer.from(JSON.stringify({ [attribute]: [[parent, order]] })).toString('base64');

/** Creates an index of rows, each with its key and its parent. It answers like Elasticsearch. */
function indexOf(rows: readonly (readonly [key: number, parent: number])[], attribute = 'menu') {
  const asked: Asked[] = [];
  const search = async (_type: string, body: unknown) => {
    const { size, query, sort } = body as Asked;
    asked.push({ size, query, sort });
    const text = JSON.stringify(query);
    const [, one, list] = /"t\.\w+":(?:{"value":(\d+)}|(\[[^\]]*\]))/.exec(text) ?? [];
    const parents: readonly number[] = JSON.parse(list ?? `[${one}]`);
    const after = Number(/"gt":(-?\d+)/.exec(text)?.[1] ?? -1);
    const matching = rows.filter(([key, parent]) => parents.includes(parent) && key > after);
    const ordered = sort === undefined ? matching : matching.toSorted(([one], [other]) => one - other);
    const hits = ordered.slice(0, size).map(([key, parent]) => ({
      fields: { key: [key], links: [linksOf(attribute, parent, key)] },
    }));
    return { hits: { total: { value: matching.length }, hits } };
  };
  return { session: { search }, asked };
}

const rowsOf = (parent: number, keys: readonly number[]) => keys.map((key) => [key, parent] as const);

it('finds the rows that link to one row in pages if one search cannot return them all', async () => {
  const keys = [9, 2, 7, 4, 1, 8, 3];
  const { session, asked } = indexOf(rowsOf(5, keys));
  expect(await linkingKeys(session, [5], STEP, 3)).toEqual([[1, 2, 3, 4, 7, 8, 9]]);
  expect(asked.map(({ size }) => size)).toEqual([3, 3, 3, 3]);
});

it('asks for fewer rows at a time before it reads pages', async () => {
  const rows = [...rowsOf(1, [10, 11]), ...rowsOf(2, [20, 21, 22, 23, 24]), ...rowsOf(3, [30])];
  const { session } = indexOf(rows);
  const lists = await linkingKeys(session, [1, 2, 3, 2], STEP, 3);
  expect(lists).toEqual([[10, 11], [20, 21, 22, 23, 24], [30], [20, 21, 22, 23, 24]]);
});

it('reads rows only if it can use them', async () => {
  const keys = Array.from({ length: 6_000 }, (_, key) => key);
  const { session, asked } = indexOf([...rowsOf(1, keys.slice(0, 2_000)), ...rowsOf(2, keys.slice(2_000))]);
  const lists = await linkingKeys(session, [1, 2], STEP, 3_000);
  expect(lists.map(({ length }) => length)).toEqual([2_000, 4_000]);
  const [bothParents, first, second] = [[1_000], [1_000, 2_000], [1_000]];
  const pages = [1_000, 3_000, 1_000];
  const sizes = asked.map(({ size }) => size).sort((one, other) => one - other);
  expect(sizes).toEqual([...bothParents, ...first, ...second, ...pages].sort((one, other) => one - other));
});

it('reads no linked rows beyond the limit of an answer, which is refused', async () => {
  const rows = rowsOf(1, [...Array(5_000).keys()]);
  const { session, asked } = indexOf(rows, 'author');
  const layouts = createLayouts(libraryRegistry(), DEFAULT_DENORMALISE);
  const layoutOf = (type: string) => layouts.get(type) as DocumentLayout;
  const request = { rowSet: { type: AUTHOR, path: [] }, world: 'published', parents: [1] } as const;
  const traverse = (limit: number) =>
    traverseRows({ ...session, layouts: layoutOf } as unknown as Session, {
      ...request,
      attribute: 'books',
      limit,
    });
  expect((await traverse(4_999)).exceeded).toBe(true);
  expect(asked.map(({ size }) => size)).toEqual([1_000]);
  expect(await traverse(5_000)).toMatchObject({ exceeded: false, counts: [5_000] });
  expect(asked.map(({ size }) => size)).toEqual([1_000, 1_000, 5_000]);
});

it('asks once where one search returns all rows, and twice where they are more than its first guess', async () => {
  const few = indexOf(rowsOf(1, [1, 2]));
  expect(await linkingKeys(few.session, [1], STEP)).toEqual([[1, 2]]);
  expect(few.asked.map(({ size }) => size)).toEqual([1_000]);
  const many = indexOf(
    rowsOf(
      1,
      Array.from({ length: 1_001 }, (_, key) => key),
    ),
  );
  expect((await linkingKeys(many.session, [1], STEP))[0]).toHaveLength(1_001);
  expect(many.asked.map(({ size }) => size)).toEqual([1_000, 1_001]);
});
