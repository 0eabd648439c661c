import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AccessControl, openAccessControl } from '../../../services/access/access-control.ts';
import { openAccessKey, readAccessKey } from '../../../services/access/access-key.ts';
import { parseExpiry } from '../../../services/access/parse-expiry.ts';
import { createTokenCommands, type TokenCommands } from '../../../services/access/token-commands.ts';
import { accessStream } from '../../../shared/access/access-events.ts';
import { FULL_ACCESS, NO_RIGHTS } from '../../../shared/access/rights.ts';
import { UNKNOWN_TOKEN } from '../../../shared/access/unknown-token.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { RequestError } from '../../../shared/request-error.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;
const READER = { name: 'reader', type: 'read-only', allow: [], drafts: false, expiresAt: null } as const;

let folder: string;
let log: EventStore;
let now: number;
const AUTHOR = { actor: { kind: 'operator' } } as const;
let access: AccessControl;
let tokens: TokenCommands;
const key = Buffer.alloc(32, 7);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'varve-access-'));
  log = openSqliteEventStore(join(folder, 'events.db'), { space: 'varve' });
  now = START;
  const options = { log, space: 'varve', key, now: () => now, author: () => AUTHOR };
  tokens = createTokenCommands(options);
  access = await openAccessControl(options);
});

afterEach(async () => {
  await access.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

async function createToken(request: Partial<Parameters<TokenCommands['create']>[0]> = {}) {
  const created = await tokens.create({ ...READER, ...request });
  await access.applied(created.position);
  return { ...created, header: `Bearer ${created.secret}` };
}

function refusal(authorization: string | undefined): unknown {
  try {
    access.authenticate(authorization);
  } catch (error) {
    if (error instanceof RequestError)
      return { code: error.code, message: error.message, details: error.details };
    throw error;
  }
  return undefined;
}

const UNAUTHORIZED = {
  code: 'unauthorized',
  message: UNKNOWN_TOKEN,
  details: {},
};

describe('authentication', () => {
  test('allows every caller everything while the log has no access events', () => {
    expect(access.authenticate(undefined)).toBe(FULL_ACCESS);
    expect(access.state().development).toBe(true);
    expect(refusal('Bearer anything')).toEqual(UNAUTHORIZED);
  });

  test('gives a token its rights, and callers without one the public rights', async () => {
    const { header } = await createToken({ type: 'custom', allow: ['api::tag.tag.find'], drafts: true });
    expect(access.authenticate(header)).toEqual({
      kind: 'custom',
      allowed: new Set(['api::tag.tag.find']),
      drafts: true,
      history: false,
    });
    expect(access.authenticate(undefined)).toEqual(NO_RIGHTS);
    const { position } = await tokens.setPublic(['api::tag.tag.findOne']);
    await access.applied(position ?? 0n);
    expect(access.authenticate(undefined)).toEqual({
      kind: 'custom',
      allowed: new Set(['api::tag.tag.findOne']),
      drafts: false,
    });
    expect(await tokens.setPublic(['api::tag.tag.findOne'])).toEqual({ position: undefined });
  });

  test('gives every invalid token the same answer', async () => {
    const expiring = await createToken({ name: 'a', expiresAt: new Date(START + HOUR).toISOString() });
    const revoked = await createToken({ name: 'b' });
    await access.applied((await tokens.revoke('b')).position);
    now = START + HOUR;
    const { secret } = await createToken({ name: 'c' });
    const other = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;
    for (const header of [
      expiring.header,
      revoked.header,
      `Bearer ${other}`,
      `Bearer ${secret}x`,
      `Bearer ${secret.slice(0, -1)}`,
      'Bearer x',
      `Bearer ${'x'.repeat(10_000)}`,
    ]) {
      expect(refusal(header), header.slice(0, 80)).toEqual(UNAUTHORIZED);
    }
    expect(access.authenticate(`bearer ${secret}`)).toMatchObject({ kind: 'read-only' });
  });

  test.each([undefined, 'Basic dXNlcjpwYXNz', 'Token x'])('ignores the header "%s"', async (header) => {
    await createToken();
    expect(access.authenticate(header)).toEqual(NO_RIGHTS);
  });

  test('does not fall back to development mode with the last token', async () => {
    await createToken();
    await access.applied((await tokens.revoke('reader')).position);
    expect(access.state().development).toBe(false);
    expect(access.authenticate(undefined)).toEqual(NO_RIGHTS);
  });

  test('expires a token to the millisecond', async () => {
    const { header } = await createToken({ expiresAt: new Date(START + HOUR).toISOString() });
    now = START + HOUR - 1;
    expect(access.authenticate(header)).toMatchObject({ kind: 'read-only' });
    now = START + HOUR;
    expect(refusal(header)).toEqual(UNAUTHORIZED);
  });

  test('applies the access events from before it was opened', async () => {
    const { header } = await createToken();
    const later = await openAccessControl({ log, space: 'varve', key, now: () => now });
    expect(later.authenticate(header)).toMatchObject({ kind: 'read-only' });
    const elsewhere = await openAccessControl({ log, space: 'other', key, now: () => now });
    expect(elsewhere.state().development).toBe(true);
    await Promise.all([later.close(), elsewhere.close()]);
  });

  test('skips an event of another program in its stream', async () => {
    const { header } = await createToken();
    const foreign = { id: randomUUID(), type: 'public-rights-set', data: null, metadata: {} as never };
    const result = await log.append(accessStream('varve'), 'any', [foreign]);
    await access.applied(result.kind === 'appended' ? result.position : 0n);
    expect(access.authenticate(header)).toBeDefined();
    expect(access.state().publicRights).toEqual(NO_RIGHTS);
    await tokens.setPublic([]);
  });

  test('keeps the rights at an event of a newer release, apart from revocations, also after a start, and accepts no commands', async () => {
    await log.close();
    log = openSqliteEventStore(join(folder, 'events.db'), { space: 'varve', decode: upcast });
    const options = { log, space: 'varve', key, now: () => now, author: () => AUTHOR };
    tokens = createTokenCommands(options);
    access = await openAccessControl(options);
    const { header, token } = await createToken();
    const metadata = { schemaVersion: 3, at: new Date(now).toISOString(), epoch: 0 };
    const newer = { id: randomUUID(), type: 'public-rights-set', data: { allow: ['x'] }, metadata };
    await log.append(accessStream('varve'), 'any', [newer]);
    const revoked = { ...newer, id: randomUUID(), type: 'token-revoked', data: { id: token.id } };
    const result = await log.append(accessStream('varve'), 'any', [
      { ...revoked, metadata: { ...metadata, schemaVersion: 2 } },
    ]);
    await access.applied(result.kind === 'appended' ? result.position : 0n);
    const reopened = await openAccessControl(options);
    for (const control of [access, reopened]) {
      expect(() => control.authenticate(header)).toThrow(UNKNOWN_TOKEN);
      expect(control.state().publicRights).toEqual(NO_RIGHTS);
    }
    await expect(tokens.revoke(token.id)).rejects.toThrow(/cannot read the event .*version 3/);
    await reopened.close();
  });

  test('applies a revocation by another process', async () => {
    const { header, token } = await createToken();
    const theirs = openSqliteEventStore(join(folder, 'events.db'), { space: 'varve' });
    const { position } = await createTokenCommands({
      log: theirs,
      space: 'varve',
      key,
      now: () => now,
      author: () => AUTHOR,
    }).revoke(token.id);
    await access.applied(position);
    expect(refusal(header)).toEqual(UNAUTHORIZED);
    await theirs.close();
  });
});

describe('the log', () => {
  test('contains a keyed hash, and no part of the secret', async () => {
    const { secret } = await createToken();
    expect(secret).toMatch(/^varve_[A-Za-z0-9_-]{43}$/);
    const events = [];
    for await (const event of log.readStream(accessStream('varve'))) events.push(event);
    expect(events).toHaveLength(1);
    const text = JSON.stringify(events.map(({ data }) => data));
    expect(text).not.toContain(secret.slice('varve_'.length, -4));
    expect(events[0]?.data).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('gives a token no rights if the key is another one', async () => {
    const { header } = await createToken();
    const other = await openAccessControl({ log, space: 'varve', key: Buffer.alloc(32, 8), now: () => now });
    expect(() => other.authenticate(header)).toThrow(UNKNOWN_TOKEN);
    await other.close();
  });
});

describe('token commands', () => {
  test('refuse a second token with the name of a token in force', async () => {
    await createToken();
    await expect(tokens.create(READER)).rejects.toMatchObject({ code: 'token-name-taken' });
    await tokens.revoke('reader');
    await expect(tokens.create(READER)).resolves.toMatchObject({ token: { name: 'reader' } });
    expect((await tokens.list()).map(({ name, revokedAt }) => [name, revokedAt !== null])).toEqual([
      ['reader', true],
      ['reader', false],
    ]);
  });

  test('revoke by id or name, once', async () => {
    const { token } = await createToken();
    expect((await tokens.revoke(token.id)).token.name).toBe('reader');
    for (const name of [token.id, 'reader', 'nobody']) {
      await expect(tokens.revoke(name)).rejects.toMatchObject({ code: 'token-not-found' });
    }
  });

  test('may run at the same time', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `token ${index}`);
    await Promise.all(names.map((name) => tokens.create({ ...READER, name })));
    expect((await tokens.list()).map(({ name }) => name).sort()).toEqual(names);
  });
});

describe('the key', () => {
  test('is created once, readable only by its owner', () => {
    const data = join(folder, 'data');
    const made = readAccessKey(data, undefined);
    expect(made).toHaveLength(32);
    expect(readAccessKey(data, undefined)).toEqual(made);
    expect(statSync(join(data, 'access.key')).mode & 0o777).toBe(0o600);
  });

  test('can come from a setting', () => {
    expect(readAccessKey('/nowhere', key.toString('base64url'))).toEqual(key);
    expect(() => readAccessKey('/nowhere', 'short')).toThrow('VARVE_ACCESS_KEY is not a key');
  });

  test('is not replaced if its file is damaged', () => {
    writeFileSync(join(folder, 'access.key'), 'oops');
    expect(() => readAccessKey(folder, undefined)).toThrow('is not a key');
  });
});

test.each([
  ['90m', START + 90 * 60_000],
  ['12h', START + 12 * HOUR],
  ['30d', START + 720 * HOUR],
  ['4w', START + 672 * HOUR],
  ['2026-02-01', Date.parse('2026-02-01T00:00:00Z')],
  ['2026-02-01T12:00:00+01:00', Date.parse('2026-02-01T11:00:00Z')],
  ['2025-12-31', undefined],
  ['0d', undefined],
  ['99999w', undefined],
  ['soon', undefined],
  ['2026-02-30T00:00:00Z', undefined],
  ['', undefined],
])('--expires %s', (text, expected) => {
  expect(parseExpiry(text, START)).toBe(
    expected === undefined ? undefined : new Date(expected).toISOString(),
  );
});

test.each(['', ' ', 'Bearer', 'Bearer ', 'Bearer a b', 'secret', 'Bearer=x', '\u0000 x'])(
  'a malformed Authorization header is refused: %j',
  async (authorization) => {
    await createToken({ name: 'someone' });
    expect(refusal(authorization)).toEqual(UNAUTHORIZED);
    expect(access.mayBecomeValid(authorization)).toBe(false);
  },
);

describe('a key that is lost', () => {
  test('is replaced only when all tokens are revoked', async () => {
    const at = join(folder, 'data');
    const options = { log, space: 'varve', folder: at, given: undefined };
    const { token } = await tokens.create({ ...READER, name: 'lost' });
    await expect(openAccessKey(options)).rejects.toThrow(
      /access\.key is missing, and the log has \d+ access tokens/,
    );
    expect(existsSync(join(at, 'access.key'))).toBe(false);
    expect(await openAccessKey({ ...options, given: key.toString('base64url') })).toEqual(key);
    await tokens.revoke(token.id);
    for (const { id, revokedAt } of await tokens.list()) if (revokedAt === null) await tokens.revoke(id);
    expect(await openAccessKey(options)).toHaveLength(32);
  });
});
