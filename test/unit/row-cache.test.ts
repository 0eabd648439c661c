import { describe, expect, it } from 'vitest';
import { createRowCache, rowNeed } from '../../shared/read-index/elasticsearch/read/row-cache.ts';
import { searchKnownRows } from '../../shared/read-index/elasticsearch/read/search-known-rows.ts';
import type { SearchAnswer, SearchHit } from '../../shared/read-index/elasticsearch/wire/search-answer.ts';
import type { Search } from '../../shared/read-index/elasticsearch/wire/write-search.ts';

type Row = { readonly key: number; readonly text: string; readonly links?: string };

const sumOf = ({ key, text, links = '' }: Row) => `${key}/${text}/${links}`.padEnd(24, '.');

/** Creates an index whose rows all match every search. It records the requests. */
function cluster(rows: Row[]) {
  const asked: string[] = [];
  const given = (row: Row, field: string): object => {
    switch (field) {
      case 'src':
        return { source: Buffer.from(row.text) };
      case 'key':
        return { key: [row.key] };
      case 'sum':
        return { sum: [sumOf(row)] };
      default:
        return row.links === undefined ? {} : { links: [row.links] };
    }
  };
  const hitOf = (row: Row, fields: readonly string[]): SearchHit => {
    const { source, ...rest } = Object.assign({}, ...fields.map((field) => given(row, field)));
    return { fields: rest, ...(source && { source }) };
  };
  const send = async (searches: readonly Search[]): Promise<readonly SearchAnswer[]> =>
    searches.map(({ body: { docvalue_fields = [] } }) => {
      asked.push(docvalue_fields.join());
      const hits = rows.map((row) => hitOf(row, docvalue_fields));
      return { hits: { total: { value: rows.length }, hits } };
    });
  return { rows, asked, send };
}

const searchFor = (...fields: readonly string[]): Search => ({
  index: 'a',
  body: { size: 10, query: { match_all: {} }, docvalue_fields: fields },
});
const PAGE = searchFor('key', 'src');
const WITH_LINKS = searchFor('key', 'src', 'links');

const texts = (answer: SearchAnswer | undefined) =>
  answer?.hits.hits.map(({ fields, source = [] }) => `${fields?.['key']} ${Buffer.from(source)}`);

describe('rows that are known', () => {
  const rows: Row[] = [
    { key: 1, text: 'one' },
    { key: 2, text: 'two' },
  ];

  it('are not read again: digests identify them', async () => {
    const { asked, send } = cluster([...rows]);
    const cache = createRowCache({ maxBytes: 2 ** 20, expectFrom: 0 });
    for (let times = 0; times < 2; times++) {
      const [answer] = await searchKnownRows(cache, [PAGE], send);
      expect(texts(answer)).toEqual(['1 one', '2 two']);
      expect(answer?.hits.total?.value).toBe(2);
    }
    expect(asked).toEqual(['sum', 'key,src,sum', 'sum']);
  });

  it('are read again after they have changed, with all rows of their page', async () => {
    const { rows: found, asked, send } = cluster([...rows]);
    const cache = createRowCache({ maxBytes: 2 ** 20, expectFrom: 0 });
    await searchKnownRows(cache, [PAGE], send);
    found[1] = { key: 2, text: 'changed' };
    const [answer] = await searchKnownRows(cache, [PAGE], send);
    expect(texts(answer)).toEqual(['1 one', '2 changed']);
    expect(asked.slice(2)).toEqual(['sum', 'key,src,sum']);
  });

  it('are read again for fields that were not requested before', async () => {
    const { asked, send } = cluster([{ key: 1, text: 'one', links: 'e30=' }]);
    const cache = createRowCache({ maxBytes: 2 ** 20, expectFrom: 0 });
    await searchKnownRows(cache, [PAGE], send);
    const [answer] = await searchKnownRows(cache, [WITH_LINKS], send);
    expect(answer?.hits.hits[0]?.fields?.['links']).toEqual(['e30=']);
    expect(asked.slice(2)).toEqual(['sum', 'key,src,links,sum']);
    await searchKnownRows(cache, [PAGE, WITH_LINKS], send);
    expect(asked.slice(4)).toEqual(['sum', 'sum']);
  });

  it('answer a search, even if rows of another search in the same request are not known', async () => {
    const { asked, send } = cluster([{ key: 1, text: 'one' }]);
    const cache = createRowCache({ maxBytes: 2 ** 20, expectFrom: 0 });
    await searchKnownRows(cache, [PAGE], send);
    const answers = await searchKnownRows(cache, [PAGE, WITH_LINKS, PAGE], send);
    expect(answers.map(texts)).toEqual([['1 one'], ['1 one'], ['1 one']]);
    expect(asked.slice(2)).toEqual(['sum', 'sum', 'sum', 'key,src,links,sum']);
  });

  it('are expected in an index after most of its pages had only known rows', async () => {
    const { rows: found, asked, send } = cluster([...rows]);
    const cache = createRowCache({ maxBytes: 2 ** 20 });
    for (let times = 0; times < 40; times++) await searchKnownRows(cache, [PAGE], send);
    expect(asked.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'key,src,sum'));
    expect(asked.at(-1)).toBe('sum');
    // After so many changes, asking for digests costs more than reading the rows.
    for (let times = 0; times < 10; times++) {
      found[0] = { key: 1, text: `change ${times}` };
      await searchKnownRows(cache, [PAGE], send);
    }
    expect(asked.at(-1)).toBe('key,src,sum');
    expect(asked.at(-2)).toBe('key,src,sum');
  });

  it('are evicted, the least recently used one first', async () => {
    const found = cluster([]);
    // The cache can hold some ten rows of 1,000 bytes.
    const cache = createRowCache({ maxBytes: 15_000, expectFrom: 0 });
    const page = async (key: number) => {
      found.rows.splice(0, 1, { key, text: String(key).padEnd(1000) });
      const before = found.asked.length;
      await searchKnownRows(cache, [PAGE], found.send);
      return found.asked.length - before === 1 ? 'known' : 'read';
    };
    for (let key = 0; key < 30; key++) {
      expect(await page(key)).toBe('read');
      if (key > 0) expect(await page(0)).toBe('known');
    }
    expect(await page(29)).toBe('known');
    expect(await page(1)).toBe('read');
  });
});

describe('the cached rows of an answer', () => {
  it('do not keep the answer in memory', async () => {
    const text = 'a text that is longer than what is copied anyway';
    const body = Buffer.from(text);
    const send = async (): Promise<readonly SearchAnswer[]> => [
      { hits: { hits: [{ fields: { key: [1], sum: ['s'.repeat(24)] }, source: body.subarray(2, 6) }] } },
    ];
    const cache = createRowCache({ maxBytes: 2 ** 20 });
    await searchKnownRows(cache, [PAGE], send);
    body.fill('x');
    const known = cache.fill('a', 0, { hits: { hits: [{ fields: { sum: ['s'.repeat(24)] } }] } });
    expect(texts(known)).toEqual([`1 ${text.slice(2, 6)}`]);
  });

  it('does not keep a row that would evict many', async () => {
    const { asked, send } = cluster([{ key: 1, text: 'x'.repeat(3_000) }]);
    const cache = createRowCache({ maxBytes: 20_000, expectFrom: 0 });
    for (let times = 0; times < 2; times++) await searchKnownRows(cache, [PAGE], send);
    expect(asked).toEqual(['sum', 'key,src,sum', 'sum', 'key,src,sum']);
  });

  it('keeps only whole rows: other searches are sent unchanged', async () => {
    for (const fields of [['key'], ['key', 'src', 'f.name'], ['src'], []]) {
      expect(rowNeed(searchFor(...fields))).toBeUndefined();
    }
    const { asked, send } = cluster([{ key: 1, text: 'one' }]);
    const cache = createRowCache({ maxBytes: 2 ** 20, expectFrom: 0 });
    await searchKnownRows(cache, [searchFor('key')], send);
    expect(asked).toEqual(['key']);
  });
});
