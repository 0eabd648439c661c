import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemberSelector } from '../../../services/query/select-members.ts';

const select = (source: string, ...names: string[]) =>
  createMemberSelector(new Set(names))(Buffer.from(source)).toString();

describe('createMemberSelector', () => {
  it('copies members unchanged', () => {
    const source = '{"id":1,"a":"x","b":{"a":[1,{"id":2}]},"c":null}';
    expect(select(source, 'id', 'b')).toBe('{"id":1,"b":{"a":[1,{"id":2}]}}');
    expect(select(source, 'c')).toBe('{"c":null}');
    expect(select(source, 'nope')).toBe('{}');
    expect(select('{}', 'a')).toBe('{}');
  });

  it('is not confused by the content of strings', () => {
    expect(select('{"a":"\\"},{[","b":"\\\\","c":"é"}', 'b', 'c')).toBe('{"b":"\\\\","c":"é"}');
  });

  it('agrees with JSON.parse on any object', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd');
    const property = fc.property(
      fc.dictionary(names, fc.jsonValue()),
      fc.uniqueArray(names),
      (object, wanted) => {
        const selected: unknown = JSON.parse(select(JSON.stringify(object), ...wanted));
        const kept = Object.entries(object).filter(([name]) => (wanted as readonly string[]).includes(name));
        expect(selected).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(kept))));
      },
    );
    fc.assert(property);
  });
});
