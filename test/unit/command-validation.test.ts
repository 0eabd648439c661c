import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestError } from '../../shared/request-error.ts';
import { type CommandWorld, openCommandWorld, schemasOf, valuesOf } from './command-world.ts';

const KIT = 'api::kit.kit';
const THING = 'api::thing.thing';
const scalars = {
  text: { type: 'string', minLength: 2, maxLength: 4 },
  code: { type: 'string', regex: '^[a-z]+$' },
  long: { type: 'text' },
  mail: { type: 'email' },
  slug: { type: 'uid' },
  path: { type: 'uid', regex: '^[a-z/]+$' },
  sku: { type: 'string', unique: true },
  kind: { type: 'enumeration', enum: ['a', 'b'] },
  int: { type: 'integer', min: 0, max: 10 },
  big: { type: 'biginteger', max: '9007199254740995' },
  price: { type: 'decimal' },
  ratio: { type: 'float' },
  flag: { type: 'boolean' },
  day: { type: 'date' },
  hour: { type: 'time' },
  moment: { type: 'datetime' },
  extra: { type: 'json' },
  body: { type: 'blocks' },
  pin: { type: 'password', minLength: 3 },
  part: { type: 'component', component: 'x.part' },
  parts: { type: 'component', component: 'x.part', repeatable: true, min: 2, max: 3 },
  zone: { type: 'dynamiczone', components: ['x.part', 'x.other'], max: 2 },
};
const SCHEMAS = schemasOf(
  {
    kit: {
      attributes: {
        ...scalars,
        name: { type: 'string', required: true },
        level: { type: 'integer', default: 3 },
      },
    },
    page: {
      pluginOptions: { i18n: { localized: true } },
      attributes: {
        name: { type: 'string', pluginOptions: { i18n: { localized: true } } },
        parts: {
          type: 'component',
          component: 'x.part',
          repeatable: true,
          required: true,
          pluginOptions: { i18n: { localized: true } },
        },
        zone: { type: 'dynamiczone', components: ['x.part'], required: true },
      },
    },
    thing: {
      options: { draftAndPublish: false },
      attributes: {
        name: { type: 'string', required: true },
        day: { type: 'date', required: true },
        count: { type: 'integer', required: true, default: 1 },
        open: { type: 'boolean', required: true, default: true },
        part: { type: 'component', component: 'x.part' },
        parts: { type: 'component', component: 'x.part', repeatable: true },
        zone: { type: 'dynamiczone', components: ['x.part'] },
      },
    },
  },
  {
    'x.part': {
      title: { type: 'string', required: true },
      size: { type: 'integer', default: 1 },
      inner: { type: 'component', component: 'x.other' },
    },
    'x.other': { n: { type: 'integer', max: 5 }, secret: { type: 'password' } },
  },
);

let world: CommandWorld;
beforeAll(async () => {
  world = await openCommandWorld(SCHEMAS);
});
afterAll(() => world.close());

type Status = 'draft' | 'published';

async function refusal(data: unknown, status: Status = 'draft', type = KIT): Promise<RequestError> {
  const error = await world.execute({ kind: 'create', type, status, body: { data } }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RequestError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

/** Writes one attribute. Returns its stored value. */
async function stored(attribute: string, value: unknown, status: Status = 'draft'): Promise<unknown> {
  const body = { data: { name: 'n', [attribute]: value } };
  const { documentId, version } = await world.execute({ kind: 'create', type: KIT, status, body });
  return valuesOf(world, KIT, documentId, version)?.[attribute];
}

test.each([
  ['part', {}, 'part.title'],
  ['part', { inner: { n: 1 } }, 'part.title'],
  ['parts', [{ title: 't' }, {}], 'parts[1].title'],
  ['zone', [{ __component: 'x.part' }], 'zone[0].title'],
])(
  'without drafts, an edit may not add a component to %s without its required values',
  async (name, value, path) => {
    const data = { name: 'n', day: '2024-01-01' };
    const { documentId } = await world.execute({ kind: 'create', type: THING, body: { data } });
    const edit = { kind: 'update', type: THING, documentId } as const;
    await expect(world.execute({ ...edit, body: { data: { [name]: value } } })).rejects.toThrow(
      `${path} must be defined.`,
    );
    const draft = { kind: 'create', type: KIT, status: 'draft' } as const;
    await world.execute({ ...draft, body: { data: { name: 'n', [name]: value } } });
  },
);

describe('required lists of components and zones', () => {
  const PAGE = 'api::page.page';
  const lists = { parts: [], zone: [] };

  test.each<Status>(['draft', 'published'])(
    'a new %s without them is refused, as in Strapi',
    async (status) => {
      const { details } = await refusal({ name: 'n' }, status, PAGE);
      expect(details).toMatchObject({
        errors: [
          { path: ['parts'], message: 'parts must be defined.' },
          { path: ['zone'], message: 'zone must be defined.' },
        ],
      });
    },
  );

  test('an edit may omit them; a new locale omits those that all locales share', async () => {
    const body = { data: { name: 'n', ...lists } };
    const { documentId } = await world.execute({ kind: 'create', type: PAGE, status: 'draft', body });
    const edit = { kind: 'update', type: PAGE, documentId, status: 'draft' } as const;
    await world.execute({ ...edit, body: { data: { name: 'm' } } });
    await expect(world.execute({ ...edit, locale: 'de', body: { data: { name: 'm' } } })).rejects.toThrow(
      'parts must be defined.',
    );
    await world.execute({ ...edit, locale: 'de', body: { data: { name: 'm', parts: [] } } });
  });
});

test.each([5, true, ['en'], {}])(
  'a locale that is not a text is refused in the body of a type without i18n: %j',
  async (locale) => {
    expect((await refusal({ locale })).message).toContain('locale must be a `string` type');
    expect(await stored('text', 'a')).toBe('a');
    await world.execute({ kind: 'create', type: KIT, status: 'draft', body: { data: { locale: 'en' } } });
  },
);

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('JSON text', () => {
  test('nests 100 levels deep', async () => {
    expect(await stored('extra', nested(100))).toEqual(JSON.parse(nested(100)));
  });

  test('has texts that would be infinite as numbers', async () => {
    const extra = { commit: '7e12345', list: ['1e400', 'Infinity', '9'.repeat(400)] };
    expect(await stored('extra', extra)).toEqual(extra);
  });

  test.each([101, 3_000, 100_000])('is refused with %d levels', async (levels) => {
    expect(await refusal({ extra: nested(levels) })).toMatchObject({
      message: 'extra must nest at most 100 levels deep',
    });
    expect((await refusal({ body: nested(levels) })).message).toContain('body must be a `array` type');
  });
});

const NAN = (path: string, value: string) =>
  `${path} must be a \`number\` type, but the final value was: \`NaN\` (cast from the value \`${value}\`).`;

describe('values refused whatever the status', () => {
  test.each<[string, unknown, string]>([
    ['text', 5, 'text must be a `string` type, but the final value was: `5`.'],
    ['text', ['a'], 'text must be a `string` type, but the final value was: `[\n  "\\"a\\""\n]`.'],
    ['text', 'abcde', 'text must be at most 4 characters'],
    ['code', 'x'.repeat(256), 'code must be at most 255 characters'],
    ['mail', 'x'.repeat(256), 'mail must be at most 255 characters'],
    ['text', 'a\u0000', 'text must not contain NUL or unpaired surrogates'],
    ['extra', { a: ['\ud800'] }, 'extra must not contain NUL or unpaired surrogates'],
    ['extra', '{"a": "\\u0000"}', 'extra must not contain NUL or unpaired surrogates'],
    ['extra', '["\\ud800"]', 'extra must not contain NUL or unpaired surrogates'],
    ['extra', JSON.parse('{"a": [-1e400]}'), 'extra must not contain numbers beyond 1.8e308'],
    ['extra', JSON.parse('1e400'), 'extra must not contain numbers beyond 1.8e308'],
    ['extra', '{"a": 1e400}', 'extra must not contain numbers beyond 1.8e308'],
    ['kind', 'c', 'kind must be one of the following values: a, b, '],
    ['kind', ['a'], '2 errors occurred'],
    ['kind', {}, '2 errors occurred'],
    ['int', '', NAN('int', '""')],
    ['int', {}, NAN('int', '{}')],
    ['int', { toString: 1 }, NAN('int', '{\n  "toString": "1"\n}')],
    ['int', [{ toString: 1 }], NAN('int', '[\n  {\n    "toString": "1"\n  }\n]')],
    ['int', 1.5, 'int must be an integer'],
    ['int', 11, 'int must be less than or equal to 10'],
    ['big', '', 'big must be a valid integer'],
    ['big', true, 'big must be a valid integer'],
    ['big', '9223372036854775808', 'big must be a valid integer'],
    ['big', '9007199254740996', 'big must be less than or equal to 9007199254740995'],
    ['price', 1e8, 'price must be between -99999999.99 and 99999999.99'],
    ['price', 99_999_999.999, 'price must be between -99999999.99 and 99999999.99'],
    ['ratio', '1e400', 'ratio must be a finite number'],
    ['flag', 'yes', 'flag must be a `boolean` type, but the final value was: `"yes"`.'],
    [
      'flag',
      { toString: 'true' },
      'flag must be a `boolean` type, but the final value was: `{\n  "toString": "\\"true\\""\n}`.',
    ],
    ['flag', 2, 'flag must be a `boolean` type, but the final value was: `2`.'],
    ['day', '2024-02-30', 'Invalid date'],
    ['day', '01.02.2024', 'Invalid format, expected yyyy-MM-dd'],
    ['hour', 5, 'Expected a string, got a number'],
    ['hour', '24:00:00', 'Invalid time format, expected HH:mm:ss.SSS'],
    ['moment', '2024-02-30', 'Invalid format, expected a timestamp or an ISO date'],
    ['moment', 'soon', 'Invalid format, expected a timestamp or an ISO date'],
    ['extra', 'text', 'extra must be a JSON value, text must be JSON text'],
    [
      'body',
      'x',
      'body must be a `array` type, but the final value was: `null` (cast from the value `"x"`).',
    ],
    ['body', [5], 'Block node is of invalid type'],
    [
      'body',
      [{ type: 'paragraph', children: [] }],
      'Paragraph node children must have at least one Text or Link node',
    ],
    ['body', [{ type: 'quote' }], 'body[0].children is a required field'],
    ['body', [{ type: 'code', children: [{ type: 'link' }] }], 'Inline node must be Text or Link'],
    [
      'body',
      [{ type: 'paragraph', children: [{ type: 'link', url: 'javascript:x', children: [] }] }],
      'Please specify a valid link.',
    ],
    [
      'body',
      [{ type: 'paragraph', children: [{ type: 'link', url: 'file:///x', children: [] }] }],
      'Please specify a valid link.',
    ],
    ['part', 'x', 'part must be a `object` type, but the final value was: `"x"`.'],
    ['part', { inner: { n: 6 } }, 'part.inner.n must be less than or equal to 5'],
    ['parts', null, 'parts must be a `array` type, but the final value was: `null`.'],
    [
      'parts',
      ['x'],
      'parts[0] must be a `object` type, but the final value was: `null` (cast from the value `"x"`).',
    ],
    ['zone', [{ __component: 'x.nope' }], '2 errors occurred'],
    ['zone', [{ __component: { toString: 1 } }], '2 errors occurred'],
    ['zone', [{}], '2 errors occurred'],
  ])('%s: %j', async (attribute, value, message) => {
    const error = await refusal({ name: 'n', [attribute]: value });
    expect([error.code, error.message]).toEqual(['invalid-body', message]);
  });
});

describe('values that only drafts may have', () => {
  test.each<[string, unknown, string]>([
    ['name', null, 'name must be a `string` type, but the final value was: `null`.'],
    ['text', 'a', 'text must be at least 2 characters'],
    ['code', 'A', 'code must match the following: "/^[a-z]+$/"'],
    ['mail', 'nope', 'mail must be a valid email'],
    ['mail', 'a@b', 'mail must be a valid email'],
    ['mail', 'a@b.1', 'mail must be a valid email'],
    ['mail', 'a@b.', 'mail must be a valid email'],
    ['mail', 'a@[1.2.3.4]', 'mail must be a valid email'],
    ['mail', '', 'mail cannot be empty'],
    ['mail', 'a@x.io/é', 'mail must be a valid email'],
    ['path', '', 'path must match the following: "/^[a-z/]+$/"'],
    // Both problems are reported, as in Strapi: that of the text's form and that of the uid's.
    ['path', 'a b', '2 errors occurred'],
    ['slug', 'a b', 'slug must match the following: "/^[A-Za-z0-9-_.~]*$/"'],
    ['int', -1, 'int must be greater than or equal to 0'],
    ['part', {}, 'part.title must be a `string` type, but the final value was: `null`.'],
    ['parts', [{ title: 't' }], 'parts field must have at least 2 items'],
    [
      'parts',
      [1, 2, 3, 4].map(() => ({ title: 't' })),
      'parts field must have less than or equal to 3 items',
    ],
  ])('%s: %j', async (attribute, value, message) => {
    const data = { name: 'n', [attribute]: value };
    const draft = await world.execute({ kind: 'create', type: KIT, status: 'draft', body: { data } });
    expect((await refusal(data, 'published')).message).toBe(message);
    const publish = world.execute({ kind: 'publish', type: KIT, documentId: draft.documentId });
    await expect(publish).rejects.toMatchObject({ code: 'invalid-body', message });
  });
});

describe('values stored in their own form', () => {
  test.each<[string, unknown, unknown]>([
    ['int', ' 1 0 ', 10],
    ['int', '1e1', 10],
    ['int', [1], 1],
    ['flag', 'TRUE', true],
    ['flag', 0, false],
    ['flag', [[1]], true],
    ['big', 5, '5'],
    ['big', '-007', '-7'],
    ['big', ' +5 ', '5'],
    ['big', '-0', '0'],
    ['price', 1.005, 1.01],
    ['price', -1.005, -1.01],
    ['price', '2.675', 2.68],
    ['price', 1e-7, 0],
    ['ratio', 1e-7, 1e-7],
    ['kind', 'b', 'b'],
    ['day', '2024-02-29T23:00:00Z', '2024-02-29'],
    ['hour', '08:30:00.500', '08:30:00.5'],
    ['moment', '2024-01-01', '2024-01-01T00:00:00.000Z'],
    ['moment', '20000101', '2000-01-01T00:00:00.000Z'],
    ['moment', 20000101, '2000-01-01T00:00:00.000Z'],
    ['moment', '2000-W01-1', '2000-01-03T00:00:00.000Z'],
    ['moment', '2000-02', '2000-02-01T00:00:00.000Z'],
    ['moment', '20000229T103045Z', '2000-02-29T10:30:45.000Z'],
    ['moment', 0, '1970-01-01T00:00:00.000Z'],
    ['moment', -5, '1969-12-31T23:59:59.995Z'],
    ['moment', '7', '1970-01-01T00:00:00.007Z'],
    ['extra', '"x"', '"x"'],
    ['moment', '2024-01-01T12:00:00+02:00', '2024-01-01T10:00:00.000Z'],
    ['moment', '2024-01-01T12:00', '2024-01-01T12:00:00.000Z'],
    ['moment', 1_704_067_200_000, '2024-01-01T00:00:00.000Z'],
    ['extra', '{"b": 1, "a": 2}', { a: 2, b: 1 }],
    ['extra', 0, 0],
    ['parts', [], []],
    ['text', '', ''],
    ['text', 'a\ud800', 'a\ufffd'],
  ])('%s: %j becomes %j', async (attribute, value, expected) => {
    expect(await stored(attribute, value)).toEqual(expected);
  });

  test('a uid has the form of its schema instead of the usual one', async () => {
    expect(await stored('path', 'a/b', 'published')).toBe('a/b');
  });

  test.each(['a@é.io', '用户@例子.广告', 'a@xn--9ca.io', 'a@b.c'])(
    'the domain of %s may be of any script, and end with one letter',
    async (mail) => {
      expect(await stored('mail', mail, 'published')).toBe(mail);
    },
  );

  test('JSON keys have the order of jsonb', async () => {
    const value = await stored('extra', { bb: 1, c: 2, a: 3 });
    expect(Object.keys(value as object)).toEqual(['a', 'c', 'bb']);
  });

  test('a password is a hash, at any depth, and never in clear in the log', async () => {
    await world.newEvents();
    const data = { name: 'n', pin: 'top-secret', part: { title: 't', inner: { secret: 'top-secret' } } };
    await world.execute({ kind: 'create', type: KIT, body: { data } });
    const events = await world.newEvents();
    expect(JSON.stringify(events)).not.toContain('top-secret');
    expect(events[0]).toMatchObject({
      data: {
        values: {
          pin: expect.stringMatching(/^\$argon2id\$/),
          part: { inner: { secret: expect.stringMatching(/^\$argon2id\$/) } },
        },
      },
    });
  });

  test('the length of a password is checked before it is hashed', async () => {
    expect((await refusal({ name: 'n', pin: 'ab' }, 'published')).message).toBe(
      'pin must be at least 3 characters',
    );
  });
});

describe('a whole entry', () => {
  test('defaults apply to absent keys, also in new components', async () => {
    const body = { data: { name: 'n', part: { title: 't' } } };
    const { documentId } = await world.execute({ kind: 'create', type: KIT, body });
    expect(valuesOf(world, KIT, documentId, 'published')).toMatchObject({ level: 3, part: { size: 1 } });
    const explicit = await world.execute({
      kind: 'create',
      type: KIT,
      body: { data: { name: 'n', level: null } },
    });
    expect(valuesOf(world, KIT, explicit.documentId, 'published')).not.toHaveProperty('level');
  });

  test('several problems are answered together in the order of the attributes', async () => {
    await world.execute({ kind: 'create', type: KIT, body: { data: { name: 'n', sku: 'taken' } } });
    const error = await refusal({ int: -1, sku: 'taken', text: 'a' }, 'published');
    expect(error.message).toBe('4 errors occurred');
    expect(error.details).toEqual({
      errors: [
        {
          path: ['text'],
          message: 'text must be at least 2 characters',
          name: 'ValidationError',
          value: 'a',
        },
        { path: ['sku'], message: 'This attribute must be unique', name: 'ValidationError', value: 'taken' },
        {
          path: ['int'],
          message: 'int must be greater than or equal to 0',
          name: 'ValidationError',
          value: -1,
        },
        {
          path: ['name'],
          message: 'name must be a `string` type, but the final value was: `null`.',
          name: 'ValidationError',
          value: null,
        },
      ],
    });
  });

  test('problems of the draft are reported first, without those of the publication', async () => {
    expect((await refusal({ int: 11, text: 'a' }, 'published')).message).toBe(
      'int must be less than or equal to 10',
    );
  });

  test('an unreadable date is answered when there is no other problem', async () => {
    expect((await refusal({ name: 'n', day: 'x', int: 11 })).message).toBe(
      'int must be less than or equal to 10',
    );
  });

  test('without drafts, absent and null have different messages', async () => {
    const absent = await refusal({}, 'published', THING);
    expect(absent.details['errors']).toEqual([
      { path: ['name'], message: 'name must be defined.', name: 'ValidationError' },
      { path: ['day'], message: 'day must be defined.', name: 'ValidationError' },
    ]);
    const data = { name: 'n', day: '2024-01-01' };
    const { documentId } = await world.execute({ kind: 'create', type: THING, body: { data } });
    const cleared = world.execute({ kind: 'update', type: THING, documentId, body: { data: { day: null } } });
    await expect(cleared).rejects.toMatchObject({ message: 'day cannot be null.' });
    const closed = world.execute({ kind: 'update', type: THING, documentId, body: { data: { open: null } } });
    await expect(closed).rejects.toMatchObject({ message: 'open cannot be null.' });
    expect((await refusal({ ...data, open: null }, 'published', THING)).message).toBe(
      'open must be defined.',
    );
    const untouched = await world.execute({ kind: 'update', type: THING, documentId, body: { data: {} } });
    expect(untouched).toMatchObject({ version: 'live', changed: true, applied: true });
  });
});

describe('keys', () => {
  test.each<[string, object, string, object]>([
    ['id', { id: 1 }, 'Invalid key id', { key: 'id', source: 'body' }],
    ['unknown', { foo: 1 }, 'Invalid key foo', { key: 'foo', path: null, source: 'body' }],
    [
      'system',
      { createdAt: 1 },
      'Invalid key createdAt',
      { key: 'createdAt', path: 'createdAt', source: 'body' },
    ],
    ['nested', { part: { foo: 1 } }, 'Invalid key foo at part', { key: 'foo', path: 'part', source: 'body' }],
    [
      'deeper',
      { parts: [{ inner: { foo: 1 } }] },
      'Invalid key foo at parts.inner',
      { key: 'foo', path: 'parts.inner', source: 'body' },
    ],
    ['prototype', JSON.parse('{"__proto__": 1}'), 'Invalid key __proto__', { key: '__proto__' }],
    ['inherited', { constructor: 1 }, 'Invalid key constructor', { key: 'constructor' }],
  ])('%s', async (_name, data, message, details) => {
    const error = await refusal(data);
    expect(error.message).toBe(message);
    expect(error.details).toMatchObject(details);
  });
});

describe('components', () => {
  test('with their id they are kept with omitted values, and without an id they are new', async () => {
    const data = { name: 'n', parts: [{ title: 'a', size: 5 }, { title: 'b' }] };
    const { documentId } = await world.execute({
      kind: 'create',
      type: KIT,
      status: 'draft',
      body: { data },
    });
    const before = valuesOf(world, KIT, documentId, 'draft')?.['parts'] as { id: number }[];
    await world.execute({
      kind: 'update',
      type: KIT,
      documentId,
      status: 'draft',
      body: { data: { parts: [{ title: 'new' }, { id: before[0]!.id, title: 'A' }] } },
    });
    const after = valuesOf(world, KIT, documentId, 'draft')?.['parts'];
    expect(after).toEqual([
      expect.objectContaining({ title: 'new', size: 1 }),
      expect.objectContaining({ id: before[0]!.id, title: 'A', size: 5 }),
    ]);
  });

  const put = (documentId: string, data: object) =>
    world.execute({ kind: 'update', type: KIT, documentId, status: 'draft', body: { data } });
  const createKit = async (data: object) => {
    const body = { data: { name: 'n', ...data } };
    return (await world.execute({ kind: 'create', type: KIT, status: 'draft', body })).documentId;
  };
  const partOf = (documentId: string) =>
    valuesOf(world, KIT, documentId, 'draft')?.['part'] as { id: number; inner?: { id: number } };

  test.each<[string, unknown]>([
    ['of another entry', 1],
    ['null', null],
    ['empty text', ''],
    ['an object', { toString: 1 }],
  ])('an update refuses an id that is none of its own: %s', async (_name, id) => {
    const documentId = await createKit({ part: { title: 't' } });
    await expect(put(documentId, { part: { id, title: 'u' } })).rejects.toMatchObject({
      code: 'not-applicable',
      message: 'Some of the provided components in part are not related to the entity',
    });
  });

  test.each<[string, unknown]>([
    ['of another entry', 1],
    ['null', null],
    ['text', 'abc'],
  ])('a new entry ignores ids of components, as Strapi does: %s', async (_name, id) => {
    const other = await createKit({ part: { title: 'other' } });
    const documentId = await createKit({ part: { id: id === 1 ? partOf(other).id : id, title: 't' } });
    expect(partOf(documentId)).toMatchObject({ title: 't' });
    expect(partOf(documentId).id).not.toBe(partOf(other).id);
    expect(partOf(other)).toMatchObject({ title: 'other' });
  });

  test('a new component ignores the id of one in it', async () => {
    const documentId = await createKit({ part: { title: 't', inner: { n: 1 } } });
    const before = partOf(documentId);
    await put(documentId, { part: { title: 'u', inner: { id: before.inner?.id, n: 2 } } });
    expect(partOf(documentId)).toMatchObject({ title: 'u', inner: { n: 2 } });
    expect(partOf(documentId).inner?.id).not.toBe(before.inner?.id);
  });

  test('its id may be text', async () => {
    const documentId = await createKit({ part: { title: 't', size: 5 } });
    const { id } = partOf(documentId);
    await put(documentId, { part: { id: String(id), title: 'u' } });
    expect(partOf(documentId)).toMatchObject({ id, title: 'u', size: 5 });
  });
});
