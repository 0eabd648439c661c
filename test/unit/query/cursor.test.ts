import { describe, expect, it } from 'vitest';
import { cursorScope, readCursor, writeCursor } from '../../../services/query/cursor.ts';
import { planEntry, planList } from '../../../services/query/plan-query.ts';
import { refusalOf, requestOf } from '../../support/naive-schema.ts';

const KEY = Buffer.alloc(32, 7);
const place = ['a "text"', 2.5, 9007199254740993n, null, 1];

const plan = (query: string) => planList({ ...requestOf(query), cursorKey: KEY, mayExplain: true });
const scopeOf = (query: string) => cursorScope(KEY, plan(query).search);

describe('cursors', () => {
  const scope = scopeOf('sort=name&filters[stars][$gt]=3');

  it('encode and decode text, numbers, 64-bit integers and NULL', () => {
    expect(readCursor(scope, writeCursor(scope, place))).toEqual(place);
  });

  it('start with an empty cursor, and continue after the row that they name', () => {
    expect(plan('sort=name&pagination[cursor]=').search.cursor).toEqual({ after: null });
    expect(plan('sort=name&pagination[cursor]').search.cursor).toEqual({ after: null });
    const cursor = writeCursor(scopeOf('sort=name'), ['x', 4]);
    const { search, pagination } = plan(`sort=name&pagination[cursor]=${cursor}&pagination[pageSize]=7`);
    expect(search).toMatchObject({ from: 0, size: 7, cursor: { after: ['x', 4] } });
    expect(pagination.form).toBe('cursor');
  });

  it('are valid for any fields, populate and page size of the same query', () => {
    const cursor = writeCursor(scopeOf('sort=name'), ['x', 4]);
    expect(plan(`sort=name&fields=key&populate=chef&pagination[cursor]=${cursor}`).search.cursor).toEqual({
      after: ['x', 4],
    });
  });

  it.each([
    ['another sort', 'sort=key'],
    ['another filter', 'sort=name&filters[stars]=1'],
    ['the other world', 'sort=name&status=draft'],
  ])('are refused for %s', (_, query) => {
    const cursor = writeCursor(scopeOf('sort=name'), ['x', 4]);
    const refusal = refusalOf(() => plan(`${query}&pagination[cursor]=${cursor}`));
    expect(refusal).toMatchObject({
      code: 'invalid-cursor',
      message: 'This cursor belongs to another query',
    });
  });

  it('are refused if a character was changed, or if another key signed them', () => {
    const cursor = writeCursor(scope, place);
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      expect(() => readCursor(scope, changed)).toThrow('Invalid cursor');
    }
    for (const wrong of ['x', '.', `${cursor}A`, cursor.replace('.', ''), ` ${cursor}`]) {
      expect(() => readCursor(scope, wrong)).toThrow('Invalid cursor');
    }
    const foreign = { ...scope, key: Buffer.alloc(32, 8) };
    expect(() => readCursor(foreign, cursor)).toThrow('Invalid cursor');
  });

  it('are refused together with page or start, as a list, and without a key to sign them', () => {
    for (const query of ['[page]=1', '[start]=0', '[limit]=1&pagination[pageSize]=1']) {
      expect(refusalOf(() => plan(`pagination[cursor]=&pagination${query}`)).code).toBe('invalid-pagination');
    }
    expect(refusalOf(() => plan('pagination[cursor][]=a')).message).toBe('Invalid cursor');
    expect(refusalOf(() => planList(requestOf('pagination[cursor]='))).code).toBe('invalid-cursor');
  });

  it('refuse a text that is too long for a URL', () => {
    expect(writeCursor(scope, ['x'.repeat(6000), 1])).toContain('.');
    expect(() => writeCursor(scope, ['x'.repeat(7000), 1])).toThrow('too long for a cursor');
  });
});

describe('far offsets', () => {
  it('are refused beyond the limit, with advice on cursors', () => {
    expect(plan('pagination[start]=50000').search.from).toBe(50_000);
    for (const far of ['[start]=50001', '[page]=2002', '[page]=99999999999']) {
      const refusal = refusalOf(() => plan(`pagination${far}`));
      expect(refusal.code).toBe('invalid-pagination');
      expect(refusal.message).toContain('pagination[cursor]');
    }
    const near = () => planList({ ...requestOf('pagination[start]=11'), maxOffset: 10 });
    expect(refusalOf(near).message).toContain('at most 10');
  });
});

describe('explain', () => {
  it('accepts true and false on lists, from callers with the right', () => {
    expect(plan('explain=true&filters[stars]=3').explain?.filters).toMatchObject({ kind: 'and' });
    expect(plan('explain=true').explain).toEqual({ filters: null });
    expect(plan('explain=false').explain).toBeUndefined();
    expect(refusalOf(() => plan('explain=yes')).code).toBe('invalid-query');
    expect(refusalOf(() => planList(requestOf('explain=true'))).code).toBe('explain-not-allowed');
    expect(refusalOf(() => planEntry({ ...requestOf('explain=true'), mayExplain: true })).message).toBe(
      'Invalid key explain',
    );
  });
});
