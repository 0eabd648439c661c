import type { Random } from '../support/naive-random.ts';

/** Texts that parsers often fail on. */
const PIECES = [
  ...[
    '',
    '0',
    '-1',
    '1e309',
    'NaN',
    '99999999999999999999',
    '1.5',
    'true',
    'null',
    'undefined',
    '[]',
    '{}',
    '""',
    'a',
  ],
  ...[
    '[',
    ']',
    '[]',
    '[0]',
    '[101]',
    '[$eq]',
    '[$in][]',
    '[$or][0]',
    '[$not]',
    '[__proto__]',
    '[constructor]',
    '[$where]',
  ],
  ...[
    '&',
    '=',
    '?',
    '#',
    '/',
    '//',
    '/..',
    '/./',
    ';',
    ',',
    ':',
    '*',
    '.',
    '+',
    '%',
    '%2',
    '%zz',
    '%00',
    '%25',
    '%2e%2e%2f',
  ],
  ...[
    '%5B',
    '%5D',
    '%255B',
    '%F0%9F%A6%8A',
    '%ED%A0%80',
    '%C0%AF',
    '%0d%0aX: 1',
    '\\',
    '%5c',
    '|',
    '<',
    '>',
    "'",
    '"',
    '`',
    '$',
  ],
  ...[
    'populate',
    'filters',
    'sort',
    'fields',
    'status',
    'locale',
    'pagination',
    '_q',
    'draft',
    'published',
    'documentId',
  ],
  ...[
    'populate=*',
    'populate=deep',
    'status=draft',
    'locale=all',
    'pagination[limit]=-1',
    'pagination[start]=1e9',
  ],
  ...[
    'publicationState=preview',
    'hasPublishedVersion=false',
    'sort=id:desc',
    'a'.repeat(300),
    '['.repeat(60),
    '%5B'.repeat(40),
  ],
];

/** Returns the text with one to four small changes. */
export function mutateText(text: string, random: Random, pieces: readonly string[] = PIECES): string {
  let changed = text;
  for (let changes = random.chance(0.6) ? 1 : random.between(2, 4); changes > 0; changes--)
    changed = change(changed, random, pieces);
  return changed;
}

function change(text: string, random: Random, pieces: readonly string[]): string {
  const at = random.between(0, text.length);
  const end = Math.min(text.length, at + random.between(0, 12));
  switch (random.between(0, 7)) {
    case 0:
      return text.slice(0, at) + random.pick(pieces) + text.slice(at);
    case 1:
      return text.slice(0, at) + random.pick(pieces) + text.slice(end);
    case 2:
      return text.slice(0, at) + text.slice(end);
    case 3:
      return text.slice(0, end) + text.slice(at);
    case 4:
      return replaceWord(text, random, pieces);
    case 5:
      return text.slice(0, at) + encodeURIComponent(text.slice(at, end)) + text.slice(end);
    case 6:
      return `${text}&${text.slice(at, end)}${random.pick(pieces)}`;
    default:
      return text.slice(0, at) + String.fromCharCode(random.between(33, 255)) + text.slice(at);
  }
}

function replaceWord(text: string, random: Random, pieces: readonly string[]): string {
  const words = [...text.matchAll(/[\w$*-]+/g)];
  if (words.length === 0) return text + random.pick(pieces);
  const { index, 0: word } = random.pick(words);
  return text.slice(0, index) + random.pick(pieces) + text.slice(index + word.length);
}

/** Returns the bytes with one to five changes: parts are flipped, doubled, cut out or overwritten. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  let changed = Buffer.from(bytes);
  for (let changes = random.between(1, 5); changes > 0 && changed.length > 0; changes--) {
    const at = random.between(0, changed.length - 1);
    const end = Math.min(changed.length, at + random.between(1, 20));
    const [before, part, after] = [changed.subarray(0, at), changed.subarray(at, end), changed.subarray(end)];
    const odd = Buffer.from(
      random.pick(['\0', '\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', '\u00ff', ':', '0']),
      'latin1',
    );
    switch (random.between(0, 4)) {
      case 0:
        changed[at] = (changed[at] ?? 0) ^ (1 << random.between(0, 7));
        break;
      case 1:
        changed = Buffer.concat([before, part, part, after]);
        break;
      case 2:
        changed = Buffer.concat([before, after]);
        break;
      case 3:
        changed = Buffer.concat([before, odd, after]);
        break;
      default:
        changed = Buffer.concat([before, odd, part, after]);
    }
  }
  return changed;
}

const NUMBERS = [0, -1, 1.5, 1e21, 2 ** 53, -(2 ** 63)];

/** Returns a similar JSON value, with one part replaced. */
export function mutateJson(value: unknown, random: Random): unknown {
  if (random.chance(0.2)) return strange(random);
  if (Array.isArray(value)) {
    if (value.length === 0) return [strange(random)];
    const at = random.between(0, value.length - 1);
    return value.map((each, i) => (i === at ? mutateJson(each, random) : each));
  }
  if (typeof value !== 'object' || value === null) return strange(random);
  const names = Object.keys(value);
  const name = random.chance(0.2) || names.length === 0 ? random.pick(PIECES) : random.pick(names);
  return { ...value, [name]: mutateJson((value as Record<string, unknown>)[name], random) };
}

function strange(random: Random): unknown {
  const kinds = [
    null,
    true,
    random.pick(NUMBERS),
    random.pick(PIECES),
    [],
    {},
    [random.pick(PIECES)],
    [[[]]],
  ];
  const relations = [
    { connect: [random.pick(PIECES)] },
    { set: [] },
    { disconnect: [{ documentId: 'x' }] },
    { id: 1 },
  ];
  return random.pick([...kinds, ...relations, '\u0000', '\ud800', 'x'.repeat(5_000)]);
}
