import { expect, it } from 'vitest';
import { decodeRows, selectRows, setBit } from '../../shared/read-index/embedded/lists/bits.ts';
import {
  addToPosting,
  collectPosting,
  createPostings,
  postingCount,
  removeFromPosting,
} from '../../shared/read-index/embedded/lists/postings.ts';

const ROWS = 4096;

function collected(postings: ReturnType<typeof createPostings>, term: number): number[] {
  const bits = new Int32Array(ROWS / 32);
  collectPosting(postings, term, bits);
  return selectRows(bits, 0, ROWS);
}

it('turns a posting into bits when it is dense and back when it is not', () => {
  const postings = createPostings();
  const rows = Array.from({ length: 400 }, (_, i) => (i * 37) % 1000);
  for (const row of rows) addToPosting(postings, 0, row, 1000);
  expect(postings.dense[0]?.count).toBe(400);
  expect(collected(postings, 0)).toEqual([...rows].sort((a, b) => a - b));
  for (const row of rows.slice(20)) removeFromPosting(postings, 0, row);
  expect(postings.dense[0]).toBeUndefined();
  expect(collected(postings, 0)).toEqual(rows.slice(0, 20).sort((a, b) => a - b));
  for (const row of rows.slice(0, 20)) removeFromPosting(postings, 0, row);
  expect([postingCount(postings, 0), collected(postings, 0)]).toEqual([0, []]);
});

it('grows bits with the row set, and drops them when the term has few rows in comparison', () => {
  const postings = createPostings();
  for (let row = 0; row < 200; row++) addToPosting(postings, 3, row, 200);
  addToPosting(postings, 3, 500, 501);
  expect(postings.dense[3]?.count).toBe(201);
  addToPosting(postings, 3, 4000, 100_000);
  expect(postings.dense[3]).toBeUndefined();
  expect(collected(postings, 3)).toEqual([...Array.from({ length: 200 }, (_, row) => row), 500, 4000]);
});

it('selects and decodes rows of a set in ascending order', () => {
  const bits = new Int32Array(8);
  const rows = [0, 1, 31, 32, 63, 64, 100, 255];
  for (const row of rows) setBit(bits, row);
  expect(selectRows(bits, 0, 100)).toEqual(rows);
  expect(selectRows(bits, 3, 2)).toEqual([32, 63]);
  expect(selectRows(bits, 7, 5)).toEqual([255]);
  expect(selectRows(bits, 8, 5)).toEqual([]);
  const { count, rows: decoded } = decodeRows(bits, 0);
  expect([...decoded.subarray(0, count)]).toEqual(rows);
});
