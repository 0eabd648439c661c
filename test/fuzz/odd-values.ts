import type { ScalarAttribute, ScalarType } from '../../shared/schema/content-type.ts';
import type { Random } from '../support/naive-random.ts';

/** Marks JSON text that is not made from a value, such as `1e400` or ten thousand brackets. */
const RAW = '@raw@';

/** Returns a value that `oddJson` prints as this text. */
export function raw(text: string): string {
  return `${RAW}${text}${RAW}`;
}

/** Prints a value as JSON, with the raw texts in it. */
export function oddJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /"@raw@((?:[^"\\]|\\.)*?)@raw@"/g,
    (_, text: string) => JSON.parse(`"${text}"`) as string,
  );
}

/** Returns the text of a value in a query. */
export function oddOperand(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(RAW, '') : oddJson(value ?? null);
}

/** Texts of the field's traps: scripts, marks, controls, surrogates, characters that lower and upper case change in length. */
const PIECES = [
  ...'| |  a  |a|A|Á|a\u0301|ß|ẞ|İ|ı|ﬁ|Ǆ|ς|Σ|١٢|½|²|한|\u1112\u1161|日本語のテキスト|עברית|ไทย|ﷺ|a-b_c.d|AND OR NOT'.split(
    '|',
  ),
  ...'👩‍👩‍👧‍👦|🇩🇪|😀|\u0001|\u001f|\u007f|\u0085|\u2028|\ufeff|\uffff|\ufffd|\u200b'.split('|'),
  ...'\u202e|\u00ad|\u{10ffff}|a\nb|a\r\nb|\t|\\|"|%|_|*|?|null|undefined|true|NaN|[]|{}|__proto__|constructor|$eq'.split(
    '|',
  ),
  ...`@|#|~|..|/|<b>|&amp;|0|-0|1e3|01|+1|1.|'|wörd "quoted" (x)`.split('|'),
];
/** NUL is refused, and half a surrogate pair is replaced or refused. */
const UNSTORABLE = ['\ud83d', '\ude00', 'x\ud800y', '\u0000', 'a\u0000b'];
/** Lengths in characters around those at which columns and keywords of Elasticsearch change. */
const LENGTHS = '253 254 255 256 257 1023 8190 8192 10923 32690 32700 32766 32767 40000 65536'
  .split(' ')
  .map(Number);
const WORDS = ['alpha', 'beta', 'Gamma', 'délta', 'ΕΨΙΛΟΝ', 'zeta-eta', 'théta', '😀'];

export function oddText(random: Random): string {
  const kind = random.next();
  if (kind < 0.03) return random.pick(UNSTORABLE);
  if (kind < 0.5) return random.pick(PIECES);
  if (kind < 0.8) return Array.from({ length: random.between(2, 5) }, () => random.pick(PIECES)).join('');
  return random.sample(WORDS, 3).join(' ');
}

/**
 * Returns a text of one word or of many, around the lengths at which its storage changes. It begins with a number: on Elasticsearch texts
 * that differ only after 32,700 bytes sort in no particular order.
 */
export function longText(random: Random): string {
  const length = random.pick(LENGTHS) + random.between(-2, 2);
  const end = random.pick(['', 'b', 'c', '\u{1f600}', 'é']);
  const number = String(random.between(0, 10 ** 9));
  const piece = random.chance(0.5) ? random.pick(['a', 'é', '語', '😀']) : `${WORDS.join(' ')} `;
  return (number + piece.repeat(Math.ceil(length / piece.length))).slice(0, length) + end;
}

/** Returns a text of one to five million characters, with many different words. */
export function hugeText(random: Random): string {
  const [length, step] = [random.between(1_000_000, 5_000_000), random.between(1, 9_999)];
  const words: string[] = [];
  for (let n = 0, size = 0; size < length; n++) {
    const word = `word${(n * 7_919 * step) % 1_000_003}`;
    words.push(word);
    size += word.length + 1;
  }
  return words.join(' ');
}

/** JSON texts of values that an attribute accepts at the ends of its range, and of some just beyond. */
type Ends = { readonly inside: string; readonly beyond: string };

const ENDS = {
  integer: {
    inside: '0|-0.0|1|-1|2|3|2147483647|-2147483648|1E+2|"7"|" 7 "|"1e2"|"0x10"|0.1e-400|[1]',
    beyond: '2147483648|-2147483649|1.5|"a"|"１"|"1_000"|1e21|true|""',
  },
  biginteger: {
    inside:
      '0|"-0"|9007199254740991|"9007199254740993"|"9223372036854775807"|"-9223372036854775808"|" 12 "|"+5"|"007"|1E+2|-1',
    beyond: '9223372036854775807|"9223372036854775808"|"-9223372036854775809"|1e21|"1e3"|1.5|"a"|true|""',
  },
  decimal: {
    inside:
      '0|-0.0|0.1|1.005|2.675|9.995|-9.995|99999999.99|-99999999.99|1e-7|5e-324|-0.001|"1.5"|10.5|10|9007.1|0.30000000000000004',
    beyond: '99999999.995|100000000|1e400|-1e400|"a"|1e21|""',
  },
  float: {
    inside:
      '0|-0.0|0.1|0.30000000000000004|0.3333333333333333|1e-7|5e-324|-5e-324|1e21|1e22|1.5e300|16777217|3.4028235e38|3.4028237e38|1.7976931348623157e308|-1.7976931348623157e308|9007199254740993|12345678901234567890|9223372036854775807|2.2250738585072014e-308|" -3 "',
    beyond: '1e400|-1e400|"NaN"|"Infinity"|"１"|""',
  },
  boolean: { inside: 'true|false|"true"|"FALSE"|1|0|[true]', beyond: '2|""|"yes"' },
  date: {
    inside:
      '"0000-01-01"|"0001-01-01"|"0000-02-29"|"1582-10-10"|"1969-12-31"|"1970-01-01"|"2024-02-29"|"9999-12-31"|"2024-01-01T23:59:59Z"',
    beyond:
      '"1900-02-29"|"2024-02-30"|"10000-01-01"|"+010000-01-01"|"-000001-01-01"|"2024-1-1"|"20240101"|0|""',
  },
  time: {
    inside: '"00:00:00"|"23:59:59.999"|"12:00:00.5"|"12:00:00.000"|"12:00:00.010"|"00:00:00.001"',
    beyond: '"23:59:59.9999"|"24:00:00"|"12:00"|"12:00:60"|"-1:00:00"|"1:2:3"|0|""',
  },
  datetime: {
    inside:
      '"0000-01-01T00:00:00.000Z"|"9999-12-31T23:59:59.999Z"|"2024-02-29"|"1969-12-31T23:59:59.999Z"|"2024-06-01T12:00:00.123456Z"|"2024-06-01T12:00:00"|"2024-06-01 12:00:00"|0|-1|1000000000000|-62167219200000|253402300799999|"1717243200000"',
    beyond:
      '"0000-01-01T00:00:00+14:00"|"9999-12-31T23:59:59.999-14:00"|-62167219200001|253402300800000|8640000000000001|"2024-06-01T24:00:00Z"|1.5|"now"|""',
  },
  email: { inside: '"a@b.c"|"A@B.C"|"ä@ö.de"|"a+b@c.d"', beyond: '"a@b"|""|"\\"a b\\"@c.de"|" a@b.c "' },
  uid: { inside: '"a"|"A"|"a-b_c.d~"|"0"|"-"', beyond: '""|"é"|"a b"' },
  enumeration: { inside: '"mon"|"tue"|"ÄÖ"', beyond: '"MON"|""|"A\\u0308O\\u0308"|0' },
} as const satisfies { readonly [type in ScalarType]?: Ends };

function endOf(random: Random, { inside, beyond }: Ends): unknown {
  return raw(random.pick((random.chance(0.9) ? inside : beyond).split('|')));
}

const KEYS = [...'a||.|a.b|__proto__|constructor|$eq|é|0|type|id| '.split('|'), 'x'.repeat(5_000)];
/** Levels of JSON, around the most that a body may have. */
const DEPTHS = [10, 50, 90, 93, 94, 95, 96, 97, 98, 99, 1_000];

function oddJsonValue(random: Random, depth = 0): unknown {
  const kind = random.next();
  if (depth > 3 || kind < 0.4)
    return random.pick([oddText(random), endOf(random, ENDS.float), null, true, [], {}, [null]]);
  if (kind < 0.55) return Array.from({ length: random.between(0, 4) }, () => oddJsonValue(random, depth + 1));
  if (kind < 0.97)
    return Object.fromEntries(random.sample(KEYS, 2).map((key) => [key, oddJsonValue(random, depth + 1)]));
  const levels = random.pick(DEPTHS);
  return raw(
    random.chance(0.5)
      ? '['.repeat(levels) + ']'.repeat(levels)
      : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
  );
}

function oddBlocks(random: Random): unknown {
  const text = () => ({ type: 'text', text: oddText(random), ...(random.chance(0.2) && { bold: true }) });
  const one = () =>
    random.pick([
      { type: 'paragraph', children: [text()] },
      { type: 'heading', level: random.between(1, 6), children: [text()] },
      { type: 'list', format: 'ordered', children: [{ type: 'list-item', children: [text()] }] },
      { type: 'quote', children: [text(), { type: 'link', url: 'https://example.org', children: [text()] }] },
    ]);
  return Array.from({ length: random.between(0, 4) }, one);
}

/** Makes a value of the type, which is accepted most of the time. */
function valueOfType(random: Random, type: ScalarType): unknown {
  switch (type) {
    case 'string':
    case 'password':
      return random.chance(0.06)
        ? longText(random).slice(0, random.between(250, 258))
        : oddText(random).slice(0, 255);
    case 'text':
    case 'richtext':
      return random.chance(0.12) ? longText(random) : oddText(random);
    case 'blocks':
      return oddBlocks(random);
    case 'json':
      return oddJsonValue(random);
    default:
      return endOf(random, ENDS[type]);
  }
}

const TYPES = Object.keys(ENDS) as ScalarType[];
const EMPTY = [null, null, null, '', [], {}, [null], [[]], [{}], { id: null }, 'null'];

/** Returns an odd value for an attribute: mostly of its kind, sometimes empty or of another kind. */
export function oddScalar(random: Random, { type, name }: ScalarAttribute): unknown {
  if (random.chance(0.05)) return emptyValue(random);
  if (random.chance(0.02)) return valueOfType(random, random.pick(TYPES));
  if (name === 'mark') return `${oddText(random)} ${random.between(0, 60)}`;
  if (name === 'need') return random.between(-5, 6);
  return valueOfType(random, type);
}

/** Returns an empty value of any kind, most often null. */
export function emptyValue(random: Random): unknown {
  return random.pick(EMPTY);
}
