import { describe, expect, it } from 'vitest';
import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import { columnValue } from '../../shared/read-index/column.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { BOOK } from './read-index-library.ts';
import { all, any, exists, not, type OpenIndex, openShelf, type Shelf, term } from './read-index-shelf.ts';

/** For each attribute type three values in ascending order, as answered, and their text forms (SEMANTICS section 2). */
const VALUES: readonly {
  readonly attribute: string;
  readonly type: ScalarType;
  readonly values: readonly [unknown, unknown, unknown];
  readonly texts: readonly [string, string, string];
}[] = [
  ...(['title', 'body', 'story', 'contact', 'slug', 'genre'] as const).map((attribute) => ({
    attribute,
    type: 'string' as const,
    values: ['Alpha one', 'alpha two', 'Ünder'] as const,
    texts: ['Alpha one', 'alpha two', 'Ünder'] as const,
  })),
  { attribute: 'pages', type: 'integer', values: [-5, 7, 700], texts: ['-5', '7', '700'] },
  {
    attribute: 'copies',
    type: 'biginteger',
    values: ['-9007199254740993', '9007199254740992', '9007199254740993'],
    texts: ['-9007199254740993', '9007199254740992', '9007199254740993'],
  },
  { attribute: 'price', type: 'decimal', values: [0.5, 10, 10.25], texts: ['0.50', '10.00', '10.25'] },
  { attribute: 'weight', type: 'float', values: [-0.25, 3, 1e21], texts: ['-0.25', '3', '1e+21'] },
  {
    attribute: 'released',
    type: 'date',
    values: ['1969-07-20', '2000-01-01', '2024-02-29'],
    texts: ['1969-07-20', '2000-01-01', '2024-02-29'],
  },
  {
    attribute: 'opensAt',
    type: 'time',
    values: ['00:00:00', '08:30:00.500', '23:59:59'],
    texts: ['00:00:00', '08:30:00.5', '23:59:59'],
  },
  {
    attribute: 'soldAt',
    type: 'datetime',
    values: ['1999-12-31T23:59:59.999Z', '2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00.250Z'],
    texts: ['1999-12-31 23:59:59.999', '2024-01-01 00:00:00', '2024-01-01 00:00:00.25'],
  },
  {
    attribute: 'notes',
    type: 'json',
    values: [[1, 2], 'text', { b: 1, a: 'X' }],
    texts: ['[1, 2]', '"text"', '{"a": "X", "b": 1}'],
  },
];

type Row = (typeof VALUES)[number];

/** Rows 1 to 3 have the values, row 4 has NULL. */
async function shelfOf(open: OpenIndex, { attribute, values }: Row): Promise<Shelf> {
  const shelf = await openShelf(open);
  const rows = values.map((value, i) =>
    shelf.put(BOOK, 'published', i + 1, { id: i + 1, [attribute]: value }),
  );
  await shelf.apply([...rows, shelf.put(BOOK, 'published', 4, { id: 4 })]);
  return shelf;
}

const column = ({ type, values }: Row): [Scalar, Scalar, Scalar] =>
  values.map((value) => columnValue(type, value) as Scalar) as [Scalar, Scalar, Scalar];

export function describeValues(open: OpenIndex): void {
  describe.each(VALUES)('$attribute', (each) => {
    const field = each.attribute;
    const find = async (...queries: BoolQuery[]) => {
      const shelf = await shelfOf(open, each);
      return Promise.all(queries.map((query) => shelf.ids(BOOK, query)));
    };

    it('finds by equality', async () => {
      const [low, middle, high] = column(each);
      const [one, two, none, twice] = await find(
        term(field, middle),
        { kind: 'terms', field, values: [high, low] },
        { kind: 'terms', field, values: [] },
        { kind: 'terms', field, values: [low, low] },
      );
      expect({ one, two, none, twice }).toEqual({ one: [2], two: [1, 3], none: [], twice: [1] });
    });

    it('distinguishes NULL from values', async () => {
      const [low] = column(each);
      const [some, none, others] = await find(exists(field), not(exists(field)), not(term(field, low)));
      expect({ some, none, others }).toEqual({ some: [1, 2, 3], none: [4], others: [2, 3, 4] });
    });

    // Order comparisons of JSON are refused before a query reaches an index.
    if (each.type !== 'json') {
      it('finds by range', async () => {
        const [low, middle, high] = column(each);
        const found = await find(
          { kind: 'range', field, gt: low },
          { kind: 'range', field, gte: middle },
          { kind: 'range', field, lt: high },
          { kind: 'range', field, lte: low },
          { kind: 'range', field, gte: middle, lte: middle },
          { kind: 'range', field, gt: low, lt: high },
          { kind: 'range', field, gt: high },
          { kind: 'range', field, gte: high, lte: low },
        );
        expect(found).toEqual([[2, 3], [2, 3], [1, 2], [1], [2], [2], [], []]);
      });
    }

    it('compares text forms', async () => {
      const [, text] = each.texts;
      const middle = text.slice(1, -1);
      const ids = (holds: (text: string) => boolean) =>
        each.texts.flatMap((candidate, i) => (holds(candidate) ? [i + 1] : []));
      const query = (match: 'equals' | 'contains' | 'prefix' | 'suffix', value: string): BoolQuery => ({
        kind: 'text',
        match,
        field,
        value,
        fold: false,
      });
      const found = await find(
        query('equals', text),
        query('contains', middle),
        query('prefix', text.slice(0, 2)),
        query('suffix', text.slice(-2)),
        query('contains', `${text}!`),
      );
      expect(found).toEqual([
        [2],
        ids((candidate) => candidate.includes(middle)),
        ids((candidate) => candidate.startsWith(text.slice(0, 2))),
        ids((candidate) => candidate.endsWith(text.slice(-2))),
        [],
      ]);
    });

    it('finds an empty text in every value but not in NULL', async () => {
      const empty = (match: 'contains' | 'prefix' | 'suffix', fold: boolean): BoolQuery => ({
        kind: 'text',
        match,
        field,
        value: '',
        fold,
      });
      const found = await find(empty('contains', false), empty('prefix', true), empty('suffix', false));
      expect(found).toEqual([
        [1, 2, 3],
        [1, 2, 3],
        [1, 2, 3],
      ]);
    });
  });
  describeOtherValues(open);
}

function describeOtherValues(open: OpenIndex): void {
  const folded = (
    match: 'equals' | 'contains' | 'prefix' | 'suffix',
    field: string,
    value: string,
  ): BoolQuery => ({
    kind: 'text',
    match,
    field,
    value,
    fold: true,
  });

  it('compares booleans: false before true', async () => {
    const shelf = await openShelf(open);
    await shelf.apply(
      [true, false, null].map((inPrint, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1, inPrint })),
    );
    expect(await shelf.ids(BOOK, term('inPrint', true))).toEqual([1]);
    expect(await shelf.ids(BOOK, { kind: 'range', field: 'inPrint', lt: true })).toEqual([2]);
    expect(await shelf.ids(BOOK, folded('prefix', 'inPrint', 'tr'))).toEqual([1]);
    expect(await shelf.ids(BOOK, exists('inPrint'))).toEqual([1, 2]);
  });

  it('folds each code point separately', async () => {
    const shelf = await openShelf(open);
    const titles = ['ÉTÉ', 'été', 'e\u0301te', 'Straße', 'STRASSE', 'ΣΟΦΟΣ', 'σοφος', 'İstanbul', 'ﬁn'];
    await shelf.apply(titles.map((title, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1, title })));
    expect(await shelf.ids(BOOK, folded('equals', 'title', 'été'))).toEqual([1, 2]);
    expect(await shelf.ids(BOOK, folded('contains', 'title', 'ß'))).toEqual([4]);
    expect(await shelf.ids(BOOK, folded('suffix', 'title', 'σ'))).toEqual([6]);
    expect(await shelf.ids(BOOK, folded('prefix', 'title', 'ist'))).toEqual([8]);
    expect(await shelf.ids(BOOK, folded('contains', 'title', 'fi'))).toEqual([]);
  });

  it('treats % _ * ? and backslash literally', async () => {
    const shelf = await openShelf(open);
    const titles = ['50%', '50x', 'a_b', 'axb', 'a*?', 'a\\b'];
    await shelf.apply(titles.map((title, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1, title })));
    for (const [value, expected] of [
      ['0%', [1]],
      ['a_', [3]],
      ['*?', [5]],
      ['\\', [6]],
    ] as const) {
      expect(
        await shelf.ids(BOOK, { kind: 'text', match: 'contains', field: 'title', value, fold: false }),
      ).toEqual(expected);
    }
  });

  it('searches texts of any length', async () => {
    const shelf = await openShelf(open);
    const long = 'word '.repeat(20_000);
    const bodies = [`${long}NEEDLE`, long, `${long}needle`];
    await shelf.apply(bodies.map((body, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1, body })));
    expect(await shelf.ids(BOOK, folded('contains', 'body', 'd needle'))).toEqual([1, 3]);
    expect(await shelf.ids(BOOK, term('body', `${long}needle`))).toEqual([3]);
  });

  it('compares text by code points, not by UTF-16 units', async () => {
    const shelf = await openShelf(open);
    // In UTF-16 order the emoji would be before U+FFFD.
    const titles = ['\u{1F600}', '\uFFFD', 'z', 'Z', '', '\uD7FF'];
    await shelf.apply(titles.map((title, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1, title })));
    expect(await shelf.ids(BOOK, { kind: 'range', field: 'title', gt: '\uFFFD' })).toEqual([1]);
    expect(await shelf.ids(BOOK, { kind: 'range', field: 'title', gte: '', lt: 'z' })).toEqual([4, 5]);
    expect(await shelf.ids(BOOK, { kind: 'range', field: 'title', gt: 'z', lte: '\uD7FF' })).toEqual([6]);
  });

  it('combines the parts of a bool', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([1, 2, 3, 4].map((id) => shelf.put(BOOK, 'published', id, { id, pages: id })));
    const is = (pages: number) => term('pages', pages);
    const queries: readonly (readonly [BoolQuery, readonly number[]])[] = [
      [{ kind: 'bool' }, [1, 2, 3, 4]],
      [{ kind: 'bool', filter: [] }, [1, 2, 3, 4]],
      [{ kind: 'bool', should: [] }, []],
      [{ kind: 'bool', must_not: [] }, [1, 2, 3, 4]],
      [{ kind: 'match_none' }, []],
      [any(is(1), is(3)), [1, 3]],
      [all(is(1), is(3)), []],
      [not(is(1), is(3)), [2, 4]],
      [not(not(is(1))), [1]],
      [{ kind: 'bool', filter: [any(is(1), is(2))], should: [is(2), is(3)], must_not: [is(3)] }, [2]],
      [all(any(is(1), is(2)), not(is(1))), [2]],
    ];
    for (const [query, expected] of queries) expect(await shelf.ids(BOOK, query)).toEqual(expected);
  });

  it('returns totals and pages, and no total if none is requested', async () => {
    const shelf = await openShelf(open);
    await shelf.apply(
      Array.from({ length: 70 }, (_, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1 })),
    );
    const request = {
      type: BOOK,
      world: 'published',
      query: exists('id'),
      sort: [],
      withTotal: true,
    } as const;
    const page = await shelf.index.search({ ...request, from: 66, size: 10 });
    expect([page.total, page.hits.sources.length]).toEqual([70, 4]);
    const beyond = await shelf.index.search({ ...request, from: 1000, size: 10 });
    expect([beyond.total, beyond.hits.rows]).toEqual([70, []]);
    const uncounted = await shelf.index.search({ ...request, withTotal: false, from: 0, size: 3 });
    expect([uncounted.total, uncounted.hits.rows.length]).toEqual([undefined, 3]);
    expect(
      (await shelf.index.search({ ...request, from: 0, size: Number.POSITIVE_INFINITY })).hits.rows,
    ).toHaveLength(70);
  });
}
