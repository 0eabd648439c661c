import { describe, expect, it } from 'vitest';
import { castOperand } from '../../../services/query/cast-operand.ts';
import type { ScalarType } from '../../../shared/schema/content-type.ts';
import { parseInstant } from '../../../shared/schema/parse-instant.ts';

describe('castOperand', () => {
  it.each<[ScalarType, string, unknown]>([
    ['integer', ' 03 ', 3],
    ['integer', '3.0', 3],
    ['integer', '-2147483648', -2147483648],
    ['decimal', '10.50', 10.5],
    ['float', '1e-7', 1e-7],
    ['biginteger', '-9223372036854775808', -9223372036854775808n],
    ['biginteger', '+9007199254740993', 9007199254740993n],
    ['boolean', '', false],
    ['boolean', '1', true],
    ['date', '2024-02-29', Date.UTC(2024, 1, 29)],
    ['date', '1999-12-31T23:59:59.999Z', Date.UTC(1999, 11, 31)],
    ['time', '23:59:59.999', 86_399_999],
    ['json', '"a"', '"a"'],
    ['blocks', '[]', '[]'],
    ['enumeration', 'nope', 'nope'],
  ])('%s %s', (type, text, value) => {
    expect(castOperand(type, text)).toEqual({ ok: true, value });
  });

  it.each<[ScalarType, string, string]>([
    ['integer', '', 'Invalid integer '],
    ['integer', '3.5', 'Invalid integer 3.5'],
    ['integer', '2147483648', 'Invalid integer 2147483648'],
    ['integer', '3,5', 'Invalid integer 3,5'],
    ['decimal', 'NaN', 'Invalid number NaN'],
    ['float', '1e400', 'Invalid number 1e400'],
    ['biginteger', '9223372036854775808', 'Invalid integer 9223372036854775808'],
    ['biginteger', '1e3', 'Invalid integer 1e3'],
    ['boolean', 'TRUE', 'Invalid boolean value TRUE'],
    ['date', '2024', 'Invalid format, expected yyyy-MM-dd'],
    ['date', '2024-13-01', 'Invalid format, expected yyyy-MM-dd'],
    ['date', '2024-02-30', 'Invalid date'],
    ['time', '8:30:00', 'Invalid time format, expected HH:mm:ss.SSS'],
    ['datetime', '2024-13-01', 'Invalid format, expected a timestamp or an ISO date'],
    ['json', '{bad', 'Invalid JSON {bad'],
  ])('%s %s is refused', (type, text, message) => {
    expect(castOperand(type, text)).toMatchObject({ ok: false, message });
  });
});

describe('parseInstant', () => {
  it.each([
    ['2024', Date.UTC(2024)],
    ['2024-03', Date.UTC(2024, 2)],
    ['20240301', Date.UTC(2024, 2, 1)],
    ['2024-01-01 00:00:00', Date.UTC(2024)],
    ['2024-01-01T00:00:00.789Z', Date.UTC(2024, 0, 1, 0, 0, 0, 789)],
    ['2024-01-01T00:00:00.5+01:30', Date.UTC(2023, 11, 31, 22, 30, 0, 500)],
    ['2024-01-01T24:00', Date.UTC(2024, 0, 2)],
    ['0099-01-01', -59042995200000],
    ['1704067200000', 1704067200000],
    ['-1', -1],
    ['12', Date.UTC(1200)],
    ['123', 123],
    ['123456', 123456],
    ['2000-060', Date.UTC(2000, 1, 29)],
    ['2000060T10:30Z', Date.UTC(2000, 1, 29, 10, 30)],
    ['2000-W09', Date.UTC(2000, 1, 28)],
    ['2000W092', Date.UTC(2000, 1, 29)],
    ['2000-W53-1', Date.UTC(2001, 0, 1)],
    ['2004-W53-7', Date.UTC(2005, 0, 2)],
    ['+002000-02-29', Date.UTC(2000, 1, 29)],
    ['-000001-02-28', Date.parse('-000001-02-28T00:00:00.000Z')],
    ['2000-02-29T', Date.UTC(2000, 1, 29)],
    ['2000-02-29 ', Date.UTC(2000, 1, 29)],
    ['2000-02-29T10.5', Date.UTC(2000, 1, 29, 10, 30)],
    ['2000-02-29T10:30.5', Date.UTC(2000, 1, 29, 10, 30, 30)],
    ['2000-02-29T10:30:45.Z', Date.UTC(2000, 1, 29, 10, 30, 45)],
    ['2000-02-29T10:30:45+25:00', Date.UTC(2000, 1, 28, 9, 30, 45)],
  ])('%s', (text, instant) => {
    expect(parseInstant(text)).toBe(instant);
  });

  it.each([
    '',
    'abc',
    '2024-02-30',
    '2024-01-01T25:00',
    '2024-01-01T00:60',
    '2024-01-01T00:00:00 01:00',
    '2024-01-01T00:00:00 ',
    '2024-01-01  10:30',
    ' 2024-01-01',
    '2001-366',
    '2000-000',
    '2000-W00',
    '2000-W54',
    '2000-W09-8',
    '+2000-02-29',
    '2000-2-9',
    '1.5',
    '9'.repeat(16),
  ])('%s is not an instant', (text) => {
    expect(parseInstant(text)).toBeNull();
  });
});
