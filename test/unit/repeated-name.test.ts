import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repeatedName } from '../../services/http/requests/repeated-name.ts';

it.each([
  ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}', undefined],
  ['{"a":1,"b":2,"a":3}', 'a'],
  ['{"b":{"c":1,"c" \n : 2}}', 'c'],
  ['[{"x":"\\"x\\":1,","x":1}]', 'x'],
  ['{"a":"a","b":"a:","c":"{\\"a\\":1"}', undefined],
  ['{"filters":1,"f\\u0069lters":2}', 'filters'],
  ['{"":1,"":2}', ''],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
])('%s', (text, name) => {
  expect(repeatedName(text)).toBe(name);
});

it('finds no repeated name in what JSON.stringify writes, and one that is added', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, luck) => {
      const text = JSON.stringify(value, null, luck % 3);
      expect(repeatedName(text)).toBeUndefined();
      const names = Object.keys(value);
      const name = names[luck % names.length] ?? '';
      const twice = `${text.trimEnd().slice(0, -1)},${JSON.stringify(name)}:null}`;
      expect(repeatedName(twice)).toBe(name);
    }),
  );
});

it('reads long texts', () => {
  expect(repeatedName(`{"a":"${'\\"'.repeat(400_000)}","b":"${'x'.repeat(400_000)}"}`)).toBeUndefined();
});
