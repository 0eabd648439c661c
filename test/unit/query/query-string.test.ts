import { describe, expect, it } from 'vitest';
import { parseQueryString } from '../../../services/query/query-string.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { refusalOf } from '../../support/naive-schema.ts';

const plain = (text: string): unknown => JSON.parse(JSON.stringify(parseQueryString(text)));

describe('parseQueryString', () => {
  it.each([
    ['', {}],
    ['a=1&b', { a: '1', b: null }],
    ['filters[stars][$gt]=3', { filters: { stars: { $gt: '3' } } }],
    ['filters%5Bname%5D=A+B', { filters: { name: 'A B' } }],
    ['filters[name]=%E9lan', { filters: { name: '%E9lan' } }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[5]=1&a[9]=2', { a: ['1', '2'] }],
    ['a=1&a=2', { a: ['1', '2'] }],
    ['a[x]=1', { a: { x: '1' } }],
  ])('%s', (text, wanted) => {
    expect(plain(text)).toEqual(wanted);
  });

  it('parses lists of every allowed length as lists', () => {
    const text = Array.from({ length: 900 }, (_, i) => `filters[stars][$in][${i}]=${i}`).join('&');
    const { stars } = parseQueryString(text)['filters'] as unknown as { stars: { $in: unknown[] } };
    expect(stars.$in).toHaveLength(900);
  });

  it('treats names of Object.prototype as data', () => {
    const parsed = parseQueryString('toString=1&filters[constructor]=x&filters[hasOwnProperty]=y');
    expect(Object.keys(parsed)).toEqual(['toString', 'filters']);
    expect(Object.keys(parsed['filters'] as object)).toEqual(['constructor', 'hasOwnProperty']);
  });

  it.each(['__proto__=1', 'filters[__proto__][x]=1', 'a[%5F_proto__]=1', 'populate[0][__proto__]=1'])(
    'refuses %s, which qs would drop',
    (text) => {
      const refusal = refusalOf(() => parseQueryString(text));
      expect(refusal.code).toBe('invalid-query');
      expect(refusal.message).toBe('Invalid key __proto__');
    },
  );

  it('refuses more parameters than it reads, instead of dropping the rest', () => {
    const refusal = refusalOf(() => parseQueryString('a=1&'.repeat(1000)));
    expect(refusal.details).toMatchObject({ found: 1001, accepted: 'at most 1000 parameters' });
  });

  it('parses levels below the 20th as one literal name', () => {
    const deep = `filters${'[$not]'.repeat(22)}[stars]=3`;
    expect(JSON.stringify(plain(deep))).toContain('"[$not][$not][stars]":"3"');
  });
});

describe('plainText', () => {
  it('shows values as Strapi prints them', () => {
    expect(plainText(['a', null, ['b']])).toBe('a,,b');
    expect(plainText(parseQueryString('status[$eq]=draft')['status'])).toBe('[object Object]');
    expect(plainText(null)).toBe('null');
  });
});
