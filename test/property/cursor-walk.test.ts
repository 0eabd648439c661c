import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type {
  LinkChange,
  ReadIndex,
  RowChange,
  SearchRequest,
  SearchResult,
  SortKey,
  SortPosition,
} from '../../shared/read-index/read-index.ts';
import {
  BOOK,
  componentRow,
  decode,
  libraryRegistry,
  row,
  TAG,
  type Values,
} from '../contract/read-index-library.ts';
import { by, link, MATCH_ALL } from '../contract/read-index-shelf.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 200);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = libraryRegistry();

const TITLES = [null, '', 'a', 'b', '\uFFFD', '\u{1F600}'];
const TAG_KEYS = [901, 902, 903];

type BookPlan = {
  readonly values: Omit<Values, 'id'>;
  readonly tags: readonly number[];
  readonly lengths: readonly (number | null)[];
};

const books: fc.Arbitrary<BookPlan> = fc.record({
  values: fc.record({
    title: fc.constantFrom(...TITLES),
    pages: fc.constantFrom(null, -1, 0, 7),
    copies: fc.constantFrom(null, '9007199254740992', '9007199254740993'),
    inPrint: fc.constantFrom(null, false, true),
    $publication: fc.constantFrom('never-published', 'modified', 'published'),
  }),
  tags: fc.subarray(TAG_KEYS),
  lengths: fc.array(fc.constantFrom(null, 1, 2), { maxLength: 2 }),
});

const sorts: fc.Arbitrary<readonly SortKey[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom<readonly [readonly string[], string]>(
        [[], 'title'],
        [[], 'pages'],
        [[], 'copies'],
        [[], 'inPrint'],
        [[], '$publication'],
        [['tags'], 'weight'],
        [['chapters'], 'length'],
      ),
      fc.constantFrom<'asc' | 'desc'>('asc', 'desc'),
    )
    .map(([[path, field], direction]) => by(field, direction, path)),
  { maxLength: 3 },
);

/** Generates changes between two pages: books that are added, and places in the list of keys whose books are removed. */
const changes = fc.record({
  come: fc.array(books, { maxLength: 4 }),
  go: fc.array(fc.nat(), { maxLength: 3 }),
});

/** Returns an id. Ids do not follow the order in which books are added. */
const idOf = (key: number) => ((key * 7919) % 1009) + 1;

/** Creates an index to which books are added and removed, and the current books by key. */
async function openBooks() {
  const index = createEmbeddedIndex({ registry, reuseOrdinalsAfter: 0 });
  const present: number[] = [];
  let position = 0n;
  let lastKey = 0;
  const apply = (rows: readonly RowChange[], links: readonly LinkChange[] = []) =>
    index.apply({ position: ++position, rows, links });
  await apply(
    TAG_KEYS.map((key, i) => {
      const values = { id: i + 1, weight: [1, null, 5][i] ?? null };
      return { type: TAG, version: 'live', key, row: row(registry, TAG, values) };
    }),
  );
  return {
    index,
    async add({ values, tags, lengths }: BookPlan): Promise<void> {
      const key = ++lastKey;
      present.push(key);
      const chapters = lengths.map((length, i) =>
        componentRow(registry, 'lib.chapter', { id: key * 10 + i, length }),
      );
      const book = row(registry, BOOK, { ...values, id: idOf(key) }, { chapters });
      await apply(
        [{ type: BOOK, version: 'published', key, row: book }],
        tags.map((tag) => link(BOOK, 'tags', key, tag)),
      );
    },
    /** Removes a book, and returns its id. */
    async removeAt(place: number): Promise<number> {
      const [key = 0] = present.splice(place % Math.max(1, present.length), 1);
      if (key > 0) await apply([{ type: BOOK, version: 'published', key, row: null }]);
      return idOf(key);
    },
  };
}

const idsOf = (sources: readonly Uint8Array[]) => sources.map((source) => decode(source).id);

async function* pages(index: ReadIndex, request: SearchRequest): AsyncGenerator<readonly number[]> {
  let after: SortPosition | null = null;
  do {
    const found: SearchResult = await index.search({ ...request, cursor: { after } });
    yield idsOf(found.hits.sources);
    after = found.next ?? null;
  } while (after !== null);
}

describe(`cursors while rows come and go (seed ${SEED}, ${RUNS} runs)`, () => {
  it('return every row that exists throughout exactly once, in order', async () => {
    const someBooks = fc.array(books, { minLength: 1, maxLength: 25 });
    const sizes = fc.integer({ min: 1, max: 4 });
    const edits = fc.array(changes, { maxLength: 12 });
    const property = fc.asyncProperty(someBooks, sorts, sizes, edits, async (first, sort, size, later) => {
      const shelf = await openBooks();
      for (const book of first) await shelf.add(book);
      const request = {
        type: BOOK,
        world: 'published',
        query: MATCH_ALL,
        sort,
        from: 0,
        withTotal: false,
      } as const;
      const before = idsOf((await shelf.index.search({ ...request, size: 1000 })).hits.sources);

      const walked: number[] = [];
      const gone = new Set<number>();
      let page = 0;
      for await (const ids of pages(shelf.index, { ...request, size })) {
        walked.push(...ids);
        const { come = [], go = [] } = later[page++] ?? {};
        for (const book of come) await shelf.add(book);
        for (const place of go) gone.add(await shelf.removeAt(place));
      }
      const throughout = before.filter((id) => !gone.has(id));
      expect(walked.filter((id) => throughout.includes(id))).toEqual(throughout);
      expect(new Set(walked).size).toBe(walked.length);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  });
});
