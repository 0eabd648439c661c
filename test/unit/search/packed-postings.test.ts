import fc from 'fast-check';
import { expect, it } from 'vitest';
import { selectRows } from '../../../shared/read-index/embedded/bits.ts';
import {
  createPackedPostings,
  placeRows,
  unpackPostings,
} from '../../../shared/read-index/embedded/packed-postings.ts';
import {
  addToPosting,
  collectPosting,
  type Postings,
  postingCount,
  removeFromPosting,
} from '../../../shared/read-index/embedded/postings.ts';

/** Number of places, large enough that a word in most of them is stored as bits. */
const PLACES = 400;
const WORDS = 4;

const some = (least: number) =>
  fc.uniqueArray(fc.nat(PLACES - 1), { minLength: least, maxLength: PLACES, size: 'max' });
/** Generates the places of each word: of words with many places, with few and with none. */
const words = fc.tuple(some(200), some(0), some(0), fc.constant<number[]>([]));

function packed(places: readonly (readonly number[])[]) {
  const counts = Int32Array.from(places, ({ length }) => length);
  const { packed: made, set } = createPackedPostings(counts, PLACES);
  for (let place = 0; place < PLACES; place++)
    for (const [word, has] of places.entries()) if (has.includes(place)) set(word, place);
  return made;
}

function rowsIn(postings: Postings): number[][] {
  return Array.from({ length: WORDS }, (_, word) => {
    const bits = new Int32Array(Math.ceil((2 * PLACES) / 32));
    collectPosting(postings, word, bits);
    const rows = selectRows(bits, 0, 2 * PLACES);
    expect(postingCount(postings, word)).toBe(rows.length);
    return rows;
  });
}

const ascending = (rows: readonly number[]) => [...rows].sort((a, b) => a - b);

it('has the places of each word, and takes changes like any postings', () => {
  const changes = fc.array(fc.tuple(fc.nat(WORDS - 1), fc.nat(PLACES + 40)), { maxLength: 400, size: 'max' });
  fc.assert(
    fc.property(words, changes, (places, changed) => {
      const postings = unpackPostings(packed(places));
      expect(postings.dense[0]).toBeDefined();
      expect(rowsIn(postings)).toEqual(places.map(ascending));
      const known = places.map((rows) => new Set(rows));
      for (const [word, row] of changed) {
        if (known[word]?.delete(row) === true) removeFromPosting(postings, word, row);
        else {
          known[word]?.add(row);
          addToPosting(postings, word, row, PLACES + 41);
        }
      }
      expect(rowsIn(postings)).toEqual(known.map((rows) => ascending([...rows])));
    }),
    { numRuns: 100 },
  );
});

it('replaces places by rows, and omits places without a row', () => {
  const size = 2 * PLACES;
  const rows = fc.uniqueArray(fc.nat(size - 1), { minLength: PLACES, maxLength: PLACES, size: 'max' });
  const isOmitted = fc.array(fc.boolean(), { minLength: PLACES, maxLength: PLACES, size: 'max' });
  fc.assert(
    fc.property(words, rows, isOmitted, (places, all, omitted) => {
      const rowOf = Int32Array.from(all, (row, place) => (omitted[place] === true ? -1 : row));
      const placing = placeRows(packed(places), rowOf, size);
      let step = placing.next();
      while (step.done !== true) step = placing.next();
      const expected = places.map((ofWord) =>
        ascending(ofWord.map((place) => rowOf[place] as number).filter((row) => row >= 0)),
      );
      expect(rowsIn(unpackPostings(step.value))).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});
