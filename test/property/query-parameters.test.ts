import fc from 'fast-check';
import qs from 'qs';
import { expect, test } from 'vitest';
import { createParametersParser } from '../../services/query/parse-parameters.ts';
import { parseQueryString } from '../../services/query/query-string.ts';

/** Number of queries. VARVE_PROPERTY_RUNS=200000 for a full run. */
const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 5000);

const OPTIONS = {
  depth: 20,
  parameterLimit: 1000,
  arrayLimit: 1000,
  strictNullHandling: true,
  plainObjects: true,
  allowPrototypes: true,
} as const;

const name = fc.constantFrom(
  'a',
  'b',
  'sort',
  '0',
  '1',
  '2',
  '7',
  '$in',
  'toString',
  'é',
  '',
  '%C3%A9',
  'a.b',
  '[',
  ']',
);
const segment = fc.oneof(
  name.map((text) => `[${text}]`),
  name.map((text) => `%5B${text}%5d`),
  fc.constant('[]'),
);
const key = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(name, fc.array(segment, { maxLength: 3 }))
      .map(([first, rest]) => first + rest.join('')),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.constantFrom('a', '[', ']', '=', '%', '+', '5'), { maxLength: 6 })
      .map((text) => text.join('')),
  },
);
const value = fc.oneof(
  fc.constantFrom('=1', '=0', '=x+y', '=%C3%A9', '=%', '=', '', '==', '=a]=b', '=[]=', '=%5B', '=null', '=7'),
  fc.string({ maxLength: 4 }).map((text) => `=${encodeURIComponent(text.toWellFormed())}`),
);

test('a query string with cached keys is parsed as by qs', () => {
  const parse = createParametersParser((text) => qs.parse(text, { ...OPTIONS }) as object);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, fc.array(value, { minLength: 3, maxLength: 3 })), {
        minLength: 1,
        maxLength: 5,
      }),
      (parameters) => {
        for (let i = 0; i < 3; i++) {
          const text = parameters.map(([each, values]) => each + values[i]).join('&');
          expect(parse(text), text).toStrictEqual(qs.parse(text, { ...OPTIONS }));
        }
      },
    ),
    { numRuns: RUNS },
  );
});

test('objects inherit nothing, and a name that qs drops is always refused', () => {
  for (const price of ['1', '2']) {
    const filters = parseQueryString(`filters[price][$gt]=${price}&filters[name][$in][]=a`);
    const names: string[] = [];
    for (const name in filters['filters'] as object) names.push(name);
    expect(names).toEqual(['price', 'name']);
    for (const name of Object.getOwnPropertyNames(Object.prototype))
      expect(name in (filters['filters'] as object), name).toBe(false);
    expect(filters).toEqual({ filters: { price: { $gt: price }, name: { $in: ['a'] } } });
    expect(() => parseQueryString(`filters[__proto__]=${price}`)).toThrow('Invalid key __proto__');
  }
});

test('qs parses keys once, for any number of values', () => {
  const asked: string[] = [];
  const parse = createParametersParser((text) => {
    asked.push(text);
    return qs.parse(text, { ...OPTIONS }) as object;
  });
  for (const price of ['1', '2', '3']) {
    expect(parse(`a[b][]=${price}&a[b][]=x+y&c`)).toEqual({ a: { b: [price, 'x y'] }, c: null });
  }
  expect(asked).toEqual(['a[b][]=0&a[b][]=1&c']);
});
