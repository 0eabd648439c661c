import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { type CommandWorld, openCommandWorld, schemasOf, valuesOf } from './command-world.ts';

const PAGE = 'api::page.page';
const NOTE = 'api::note.note';
const TEXT = 'api::text.text';
const HOME = 'api::home.home';
const localized = { i18n: { localized: true } };
const shared = { i18n: { localized: false } };
const SCHEMAS = schemasOf({
  page: { attributes: { name: { type: 'string', required: true }, slug: { type: 'uid' } } },
  note: { options: { draftAndPublish: false }, attributes: { name: { type: 'string' } } },
  home: { kind: 'singleType', attributes: { name: { type: 'string' } } },
  text: {
    pluginOptions: localized,
    attributes: {
      title: { type: 'string', pluginOptions: localized },
      code: { type: 'string', required: true, unique: true, default: 'none', pluginOptions: shared },
    },
  },
});

let world: CommandWorld;
beforeAll(async () => {
  world = await openCommandWorld(SCHEMAS);
});
afterAll(() => world.close());

const create = (type: string, data: object, more: object = {}) =>
  world.execute({ kind: 'create', type, body: { data }, ...more });

describe('create and update', () => {
  test('publish unless the status says draft', async () => {
    const { documentId, version } = await create(PAGE, { name: 'a' });
    expect(version).toBe('published');
    const draft = await world.execute({
      kind: 'update',
      type: PAGE,
      documentId,
      status: 'draft',
      body: { data: { name: 'b' } },
    });
    expect(draft.version).toBe('draft');
    expect(valuesOf(world, PAGE, documentId, 'published')).toEqual({ name: 'a' });
    expect(valuesOf(world, PAGE, documentId, 'draft')).toEqual({ name: 'b' });
  });

  test('are visible and in the log when acknowledged', async () => {
    const { position } = await create(PAGE, { name: 'a' });
    expect(world.graph.position()).toBeGreaterThanOrEqual(position);
    expect(await world.store.lastPosition()).toBeGreaterThanOrEqual(position);
  });

  test('publish nothing of an edit whose publication is refused', async () => {
    const { documentId } = await create(PAGE, { name: 'a' });
    const update = { kind: 'update', type: PAGE, documentId, body: { data: { name: null } } } as const;
    await expect(world.execute(update)).rejects.toMatchObject({ code: 'invalid-body' });
    expect(valuesOf(world, PAGE, documentId, 'draft')).toEqual({ name: 'a' });
  });

  test.each<[string, object, string]>([
    ['no body', { body: undefined }, 'Missing "data" payload in the request body'],
    ['no data', { body: {} }, 'Missing "data" payload in the request body'],
    ['data is text', { body: { data: 'x' } }, 'Missing "data" payload in the request body'],
    ['an array', { body: [] }, 'Missing "data" payload in the request body'],
    [
      'data is an array',
      { body: { data: [] } },
      'this must be a `object` type, but the final value was: `null` (cast from the value `[]`).',
    ],
    [
      'data is an array of other values',
      { body: { data: [null, 1, []] } },
      'this must be a `object` type, but the final value was: `null` (cast from the value `[\n  {},\n  {},\n  []\n]`).',
    ],
    ['an unknown key in an array', { body: { data: [null, { foo: 1 }] } }, 'Invalid key foo'],
    [
      'an unknown status',
      { status: 'Draft' },
      "Invalid parameter at 'status'. Expected 'published' or 'draft', received: Draft",
    ],
    [
      'an empty status',
      { status: '' },
      "Invalid parameter at 'status'. Expected 'published' or 'draft', received: ",
    ],
    ['every locale', { locale: '*' }, 'Invalid locale param * provided. Document locales must be strings.'],
    [
      'a body without data, before a malformed locale',
      { locale: 'xx_bad', body: undefined },
      'Missing "data" payload in the request body',
    ],
    [
      'an unknown key, before a malformed locale',
      { locale: 'xx_bad', body: { data: { foo: 1 } } },
      'Invalid key foo',
    ],
    [
      'a malformed locale',
      { locale: 'xx_bad' },
      "Invalid parameter at 'locale'. Locale must be a valid BCP 47 format (e.g. en, en-US, zh-Hans).",
    ],
    [
      'a long locale',
      { locale: 'a'.repeat(36) },
      "Invalid parameter at 'locale'. Locale exceeds maximum length of 35 characters.",
    ],
  ])('are refused: %s', async (_name, more, message) => {
    const command = { kind: 'create', type: TEXT, body: { data: { title: 't' } }, ...more } as const;
    await expect(world.execute(command)).rejects.toMatchObject({
      code: 'invalid-body',
      message,
    });
  });

  test('an unknown document is not found', async () => {
    const update = { kind: 'update', type: PAGE, documentId: 'nope', body: { data: {} } } as const;
    await expect(world.execute(update)).rejects.toMatchObject({ code: 'not-found' });
  });

  test('a command with an id is executed once', async () => {
    const command = {
      kind: 'create',
      type: PAGE,
      identity: { id: 'c-1' },
      body: { data: { name: 'once' } },
    } as const;
    const first = await world.execute(command);
    const again = await world.execute(command);
    expect(again.documentId).toBe(first.documentId);
    await world.newEvents();
    expect(world.graph.reader.streamRevision(PAGE, first.documentId)).toBe(1n);
  });

  test('the first writers of a single type write one document', async () => {
    const put = (name: string) => world.execute({ kind: 'put-single', type: HOME, body: { data: { name } } });
    const [first, second] = await Promise.all([put('a'), put('b')]);
    expect(second.documentId).toBe(first.documentId);
    expect(valuesOf(world, HOME, first.documentId, 'published')).toEqual({ name: 'b' });
  });
});

describe('locales', () => {
  test('a new locale gets shared values instead of defaults, and does not require them', async () => {
    const { documentId } = await create(TEXT, { title: 'en', code: 'c1' });
    const french = await world.execute({
      kind: 'update',
      type: TEXT,
      documentId,
      locale: 'fr',
      body: { data: { title: 'fr' } },
    });
    expect(french).toMatchObject({ locale: 'fr', version: 'published' });
    expect(valuesOf(world, TEXT, documentId, 'published', 'fr')).toEqual({ title: 'fr', code: 'c1' });
  });

  test('a new locale keeps a shared value for which null is sent, as in Strapi', async () => {
    const { documentId } = await create(TEXT, { title: 'en', code: 'c0' });
    const update = { kind: 'update', type: TEXT, documentId } as const;
    await world.execute({ ...update, locale: 'fr', body: { data: { title: 'fr', code: null } } });
    expect(valuesOf(world, TEXT, documentId, 'published', 'fr')).toEqual({ title: 'fr', code: 'c0' });
    expect(valuesOf(world, TEXT, documentId, 'draft', 'en')).toEqual({ title: 'en', code: 'c0' });
    const cleared = { ...update, locale: 'fr', status: 'draft', body: { data: { code: null } } };
    await world.execute(cleared);
    expect(valuesOf(world, TEXT, documentId, 'draft', 'en')).toEqual({ title: 'en' });
  });

  test('a shared value that is written reaches the drafts of all locales', async () => {
    const { documentId } = await create(TEXT, { title: 'en', code: 'c2' });
    const update = { kind: 'update', type: TEXT, documentId, status: 'draft' } as const;
    await world.execute({ ...update, locale: 'fr', body: { data: { code: 'c3' } } });
    expect(valuesOf(world, TEXT, documentId, 'draft', 'en')).toEqual({ title: 'en', code: 'c3' });
    expect(valuesOf(world, TEXT, documentId, 'published', 'en')).toEqual({ title: 'en', code: 'c2' });
  });

  test('unique is per locale', async () => {
    await create(TEXT, { code: 'same' });
    await expect(create(TEXT, { code: 'same' })).rejects.toMatchObject({
      message: 'This attribute must be unique',
    });
    expect(await create(TEXT, { code: 'same' }, { locale: 'de' })).toMatchObject({ locale: 'de' });
  });

  test('a delete removes one locale, or all', async () => {
    const { documentId } = await create(TEXT, { code: 'c4' });
    await world.execute({ kind: 'update', type: TEXT, documentId, locale: 'fr', body: { data: {} } });
    await world.execute({ kind: 'delete', type: TEXT, documentId });
    const locales = () => world.graph.reader.entries(TEXT, documentId).map(({ locale }) => locale);
    expect(new Set(locales())).toEqual(new Set(['fr']));
    expect(await world.execute({ kind: 'delete', type: TEXT, documentId, locale: 'es' })).toMatchObject({
      changed: false,
    });
    await world.execute({ kind: 'delete', type: TEXT, documentId, locale: '*' });
    expect(locales()).toEqual([]);
  });
});

describe('actions', () => {
  test('publish, unpublish and discard the draft', async () => {
    const { documentId } = await create(PAGE, { name: 'a' }, { status: 'draft' });
    const act = (kind: 'publish' | 'unpublish' | 'discard-draft') =>
      world.execute({ kind, type: PAGE, documentId });
    await expect(act('discard-draft')).rejects.toMatchObject({ code: 'invalid-body' });
    expect(await act('unpublish')).toMatchObject({ changed: false, version: 'draft' });
    expect(await act('publish')).toMatchObject({ changed: true, version: 'published' });
    await world.execute({
      kind: 'update',
      type: PAGE,
      documentId,
      status: 'draft',
      body: { data: { name: 'b' } },
    });
    await act('discard-draft');
    expect(valuesOf(world, PAGE, documentId, 'draft')).toEqual({ name: 'a' });
    await act('unpublish');
    expect(valuesOf(world, PAGE, documentId, 'published')).toBeUndefined();
  });

  test.each(['publish', 'unpublish', 'discard-draft'] as const)(
    '%s needs a document and drafts',
    async (kind) => {
      await expect(world.execute({ kind, type: PAGE, documentId: 'nope' })).rejects.toMatchObject({
        code: 'not-found',
      });
      const { documentId } = await create(NOTE, {});
      await expect(world.execute({ kind, type: NOTE, documentId })).rejects.toMatchObject({
        code: 'invalid-body',
      });
    },
  );

  test('a publication validates the whole entry', async () => {
    await create(PAGE, { name: 'a', slug: 'taken' });
    const { documentId } = await create(PAGE, { slug: 'taken' }, { status: 'draft' });
    await expect(world.execute({ kind: 'publish', type: PAGE, documentId })).rejects.toMatchObject({
      message: '2 errors occurred',
    });
  });

  test('a draft cannot be deleted alone, and a missing document counts as deleted', async () => {
    const { documentId } = await create(PAGE, { name: 'a' });
    const remove = { kind: 'delete', type: PAGE, documentId } as const;
    await expect(world.execute({ ...remove, status: 'draft' })).rejects.toMatchObject({
      code: 'invalid-body',
    });
    expect(await world.execute(remove)).toMatchObject({ changed: true });
    expect(await world.execute(remove)).toMatchObject({ changed: false });
    expect(await world.execute({ ...remove, documentId: 'nope' })).toMatchObject({ changed: false });
  });

  test('a type without drafts ignores the status of a delete', async () => {
    const { documentId } = await create(NOTE, { name: 'a' });
    const remove = { kind: 'delete', type: NOTE, documentId } as const;
    await expect(world.execute({ ...remove, status: 'nope' })).rejects.toMatchObject({
      code: 'invalid-body',
    });
    expect(await world.execute({ ...remove, status: 'draft' })).toMatchObject({ changed: true });
  });

  test('a value is free again after its document is deleted', async () => {
    const { documentId } = await create(PAGE, { name: 'a', slug: 'again' });
    await world.execute({ kind: 'delete', type: PAGE, documentId });
    expect(await create(PAGE, { name: 'b', slug: 'again' })).toMatchObject({ changed: true });
  });
});

describe('users', () => {
  const user = { username: 'ada', email: 'Ada@Example.com', password: 'Passw0rd', role: 1 };

  test('are kept with a lower-case address and a hash', async () => {
    const { documentId } = await world.execute({ kind: 'create-user', body: user });
    expect(valuesOf(world, USER_TYPE, documentId, 'live')).toEqual({
      username: 'ada',
      email: 'ada@example.com',
      password: expect.stringMatching(/^\$argon2id\$/),
      provider: 'local',
      confirmed: false,
      blocked: false,
      role: 1,
    });
  });

  test.each<[string, object, string, string]>([
    ['empty', {}, 'invalid-body', '4 errors occurred'],
    ['bad address', { ...user, email: 'bad' }, 'invalid-body', 'email must be a valid email'],
    ['same name', { ...user, email: 'b@example.com' }, 'not-applicable', 'This attribute must be unique'],
    ['same address', { ...user, username: 'bob' }, 'not-applicable', 'Email already taken'],
    [
      'short name',
      { ...user, username: 'ad', email: 'b@example.com' },
      'not-applicable',
      'username must be at least 3 characters',
    ],
    [
      'unknown role',
      { ...user, username: 'bob', email: 'b@example.com', role: 9 },
      'not-applicable',
      '1 relation(s) of type plugin::users-permissions.role associated with this entity do not exist',
    ],
    [
      'role without a text',
      { ...user, username: 'bob', email: 'b@example.com', role: [[{ toString: 1 }]] },
      'not-applicable',
      '1 relation(s) of type plugin::users-permissions.role associated with this entity do not exist',
    ],
  ])('are refused: %s', async (_name, body, code, message) => {
    await expect(world.execute({ kind: 'create-user', body })).rejects.toMatchObject({
      code,
      message,
    });
  });

  test('are changed and removed by numeric id', async () => {
    const body = { ...user, username: 'eve', email: 'eve@example.com' };
    const { documentId } = await world.execute({ kind: 'create-user', body });
    const id = String(world.graph.reader.entries(USER_TYPE, documentId)[0]!.id);
    await expect(world.execute({ kind: 'update-user', id, body: { username: 'ada' } })).rejects.toMatchObject(
      { message: 'Username already taken' },
    );
    const refused = async (body: unknown, message: string) =>
      expect(world.execute({ kind: 'update-user', id, body })).rejects.toMatchObject({
        code: 'invalid-body',
        message,
      });
    // Only creations are refused with an ApplicationError.
    await refused({ username: 'ev' }, 'username must be at least 3 characters');
    await refused(
      { role: 9 },
      '1 relation(s) of type plugin::users-permissions.role associated with this entity do not exist',
    );
    await refused([], 'this must be a `object` type, but the final value was: `[]`.');
    // Strapi 5.54 gives the same answers (SEMANTICS section 11).
    await refused({ username: '', password: null }, 'username must be at least 1 characters');
    await refused({ email: '' }, 'email must be at least 1 characters');
    await refused({ role: null }, 'role must be a `object` type, but the final value was: `null`.');
    for (const password of ['', null]) await refused({ password }, 'password.notNull');
    await refused({ role: 'x' }, 'Document with id "x", locale "null" not found');
    await refused({ createdAt: 'x' }, 'Invalid format, expected a timestamp or an ISO date');
    await world.execute({ kind: 'update-user', id, body: { createdAt: '2020-01-01', updatedAt: 'x' } });
    await world.execute({ kind: 'update-user', id, body: { blocked: true } });
    expect(valuesOf(world, USER_TYPE, documentId, 'live')).toMatchObject({ username: 'eve', blocked: true });
    await world.execute({ kind: 'delete-user', id });
    expect(valuesOf(world, USER_TYPE, documentId, 'live')).toBeUndefined();
    await expect(world.execute({ kind: 'update-user', id: 'x', body: {} })).rejects.toMatchObject({
      code: 'not-found',
      message: 'User not found',
    });
  });
});
