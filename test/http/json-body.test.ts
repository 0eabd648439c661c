import { describe, expect, it } from 'vitest';
import { parseJsonBody } from '../../services/http/requests/json-body.ts';

describe('a JSON body', () => {
  it('is an object or an array', () => {
    expect(parseJsonBody('{"data":{"a":[1]}}')).toEqual({ data: { a: [1] } });
    expect(parseJsonBody('[]')).toEqual([]);
  });

  it('may begin with a byte order mark', () => {
    expect(parseJsonBody('\ufeff{"data":{}}')).toEqual({ data: {} });
    expect(() => parseJsonBody('\ufeff\ufeff{}')).toThrow(expect.objectContaining({ code: 'invalid-json' }));
  });

  it('is undefined when it is empty', () => {
    expect(parseJsonBody('')).toBeUndefined();
  });

  it.each(['null', '5', '"text"', 'true', '{bad', '[1', '{"a":1}x', ' '])('is refused as %s', (text) => {
    expect(() => parseJsonBody(text)).toThrow(expect.objectContaining({ code: 'invalid-json' }));
  });

  it('may have 100 levels, but not 101', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseJsonBody(nested(100))).toBeInstanceOf(Array);
    expect(() => parseJsonBody(nested(101))).toThrow('deeper than 100 levels');
  });

  it('does not count brackets inside text as nesting', () => {
    const text = `${'['.repeat(300)}\\"${'{'.repeat(300)}\\\\`;
    expect(parseJsonBody(`{"a":"${text}","b":[1]}`)).toMatchObject({ b: [1] });
  });

  it('keeps a key named __proto__ an own key', () => {
    const body = parseJsonBody('{"__proto__":{"polluted":true}}') as object;
    expect(Object.hasOwn(body, '__proto__')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
