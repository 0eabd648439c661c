import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatBigint, MAX_INT64, parseBigint } from '../../shared/event-store/event-codec.ts';

test('every position and revision is the same after it was written as text, also beyond 2^53', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: MAX_INT64 }),
      (value) => parseBigint(formatBigint(value)) === value,
    ),
  );
  expect(formatBigint(9_007_199_254_740_993n)).toBe('9007199254740993');
  expect(parseBigint('9007199254740993')).toBe(9_007_199_254_740_993n);
});

test.each([
  '',
  ' 1',
  '1 ',
  '-1',
  '+1',
  '01',
  '1.0',
  '1e3',
  '0x10',
  '1n',
  '१',
  '9223372036854775808',
  '99999999999999999999',
])('is not a position: %j', (text) => expect(parseBigint(text)).toBeUndefined());
