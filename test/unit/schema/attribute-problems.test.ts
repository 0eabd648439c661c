import { expect, test } from 'vitest';
import { buildRegistry, type SchemaFile } from '../../../shared/schema/build-registry.ts';
import { problemLine } from '../../../shared/schema/schema-problem.ts';

type Attributes = { readonly [name: string]: unknown };

function thing(attributes: Attributes): SchemaFile {
  const json = { info: { singularName: 'thing', pluralName: 'things' }, attributes };
  return { model: 'contentType', file: 'thing.json', namespace: 'api::thing', json };
}

/** Returns the problems of a type with these attributes, without the file and `$.attributes`. */
function attributeProblems(attributes: Attributes): string[] {
  const { problems } = buildRegistry([thing(attributes)]);
  return problems.map((problem) => problemLine(problem).replace('thing.json $.attributes', ''));
}

test('every malformed option is reported at once', () => {
  expect(
    attributeProblems({
      a: { type: 'string', required: 'yes', minLength: -1 },
      b: { type: 'integer', min: 1.5, max: '9' },
      c: { type: 'enumeration', enum: [] },
      d: { type: 'enumeration' },
      e: { type: 'component' },
      f: { type: 'dynamiczone', components: 'shared.place' },
      g: 'string',
      h: {},
      i: { type: 'media', allowedTypes: 'images' },
      j: { type: 'biginteger', min: 2 ** 60 },
    }),
  ).toEqual([
    '.a.required: expected boolean, received string',
    '.a.minLength: Too small: expected number to be >=0',
    '.b.min: expected int, received number',
    '.b.max: expected number, received string',
    '.c.enum: an enumeration has at least one value',
    '.d.enum: expected array, received undefined',
    '.e.component: expected string, received undefined',
    '.f.components: expected array, received string',
    '.g: expected an attribute, an object with a type',
    expect.stringMatching(/^\.h\.type: unknown type \(none\), expected one of string, text, richtext,/),
    '.i.allowedTypes: expected array, received string',
    '.j.min: Too big: expected int to be <=9007199254740991',
  ]);
});

test('contradictory limits, bad regular expressions and repeated values are reported', () => {
  expect(
    attributeProblems({
      a: { type: 'text', minLength: 9, maxLength: 3, regex: '[a-' },
      b: { type: 'decimal', min: 2, max: 1 },
      c: { type: 'biginteger', min: '9007199254740993', max: '9007199254740992' },
      d: { type: 'enumeration', enum: ['x', 'y', 'x'] },
      e: { type: 'biginteger', max: '9223372036854775808' },
    }),
  ).toEqual([
    '.a.minLength: minLength 9 is above maxLength 3',
    '.a.regex: not a regular expression: "[a-"',
    '.b.min: min 2 is above max 1',
    '.c.min: min 9007199254740993 is above max 9007199254740992',
    '.d.enum[2]: "x" occurs twice',
    '.e.max: expected a 64-bit integer, found "9223372036854775808"',
  ]);
});

test.each([
  ['string', 5, 'text', 'five'],
  ['email', true, 'text', 'a@b.example'],
  ['uid', 1, 'text', 'slug'],
  ['blocks', 'text', 'a list of blocks', []],
  ['integer', 1.5, 'a whole number', 2],
  ['biginteger', '9223372036854775808', 'a 64-bit integer', '9223372036854775807'],
  ['decimal', '1.5', 'a number', 1.5],
  ['float', '1', 'a number', 1e300],
  ['boolean', 'true', 'true or false', false],
  ['date', '2024-13-01', 'a date, yyyy-MM-dd', '2024-12-01'],
  ['time', '25:00:00', 'a time, HH:mm:ss or HH:mm:ss.SSS', '23:59:59.5'],
  ['datetime', 'noon', 'a date and time, ISO 8601', '2024-12-01T12:00:00Z'],
])('the default of a %s attribute must have its type', (scalar, bad, expected, good) => {
  const found = JSON.stringify(bad);
  expect(attributeProblems({ a: { type: scalar, default: bad } })).toEqual([
    `.a.default: expected ${expected}, found ${found}`,
  ]);
  expect(
    attributeProblems({ a: { type: scalar, default: good }, b: { type: scalar, default: null } }),
  ).toEqual([]);
});

test('the default of an enumeration must be one of its values', () => {
  expect(attributeProblems({ a: { type: 'enumeration', enum: ['x', 'y'], default: 'z' } })).toEqual([
    '.a.default: expected one of x, y, found "z"',
  ]);
});

const FORM = 'expected a name of letters, digits, _ and - that does not begin with - and is not a number';

test('reserved and malformed attribute names are refused, fewer of them in components', () => {
  const text = { type: 'string' };
  const names = ['id', 'document_id', 'createdAt', 'Published_At', 'locale', 'localizations', 'createdBy'];
  const attributes = Object.fromEntries(
    [...names, 'constructor', '__component', 'a.b', '-a', '12', 'a b'].map((name) => [name, text]),
  );
  expect(attributeProblems(attributes)).toEqual([
    `['12']: ${FORM}`,
    '.id: the name is reserved',
    '.document_id: the name is reserved, as documentId is',
    '.createdAt: the name is reserved',
    '.Published_At: the name is reserved, as publishedAt is',
    '.locale: the name is reserved',
    '.localizations: the name is reserved',
    '.createdBy: the name is reserved',
    '.constructor: the name is reserved',
    '.__component: the name is reserved',
    ...["['a.b']", "['-a']", "['a b']"].map((path) => `${path}: ${FORM}`),
  ]);
  const json = { attributes: { status: text, locale: text, id: text } };
  const { problems } = buildRegistry([{ model: 'component', file: 'x.json', uid: 'x.y', json }]);
  expect(problems.map(problemLine)).toEqual(['x.json $.attributes.id: the name is reserved']);
});
