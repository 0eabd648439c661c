import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveFiles, readJsonLines } from '../../services/strapi/archive.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { ANY_LINE, AT, archivedType, writeArchive } from '../support/strapi-archive.ts';

/** Hash that a Strapi 5.54 made of the password below. */
const HASH = '$2a$10$a0wTonUJmcS0h7BQjJIXG..CwjvhSnPIN1LpyYAlhs8LsqF1RXTY2';
const PASSWORD = 'third password';
/** A secret in the form of `strapi new`: 24 characters. */
const SECRET = 'mYmAdEuPjWtSeCrEt12345==';

const ROLE = 'plugin::users-permissions.role';
const PERMISSION = 'plugin::users-permissions.permission';
const USER = 'plugin::users-permissions.user';

const folder = mkdtempSync(join(tmpdir(), 'varve-moved-in-'));
const archive = join(folder, 'export.tar.gz');
const data = join(folder, 'data');
const secretFile = join(folder, 'jwt-secret');
let server: RunningServer;

function row(type: string, id: number, more: object): object {
  const times = { createdAt: AT, updatedAt: AT, publishedAt: AT, locale: null };
  return { type, id, data: { documentId: `${type.slice(-4)}${id}`.padEnd(24, '0'), ...times, ...more } };
}

function link(type: string, ref: number, field: string, role: number): object {
  return {
    ...{ kind: 'relation.basic', relation: 'manyToOne' },
    left: { type, field: 'role', ref },
    right: { type: ROLE, field, ref: role, pos: ref },
  };
}

const PERMISSIONS = [
  { role: 1, action: 'api::page.page.find' },
  { role: 1, action: 'plugin::users-permissions.user.me' },
  { role: 1, action: 'plugin::users-permissions.auth.changePassword' },
  { role: 2, action: 'plugin::users-permissions.auth.callback' },
  { role: 3, action: 'api::page.page.find' },
  { role: 3, action: 'api::page.page.update' },
  { role: 3, action: 'plugin::users-permissions.user.me' },
];
const USERS = [
  { name: 'alice', role: 1 },
  { name: 'emma', role: 3 },
];

function page(id: number, title: string, publishedAt: string | null): object {
  return row('api::page.page', id, { documentId: 'page'.padEnd(24, '0'), title, publishedAt });
}

beforeAll(async () => {
  await writeArchive(archive, {
    schemas: [archivedType('page', { title: { type: 'string' } }, { options: { draftAndPublish: true } })],
    entities: [
      page(1, 'Draft', null),
      page(2, 'Published', AT),
      ...['authenticated', 'public', 'editor'].map((type, at) => row(ROLE, at + 1, { type, name: type })),
      ...PERMISSIONS.map(({ action }, at) => row(PERMISSION, at + 1, { action })),
      ...USERS.map(({ name }, at) =>
        row(USER, at + 1, {
          ...{ username: name, email: `${name}@example.com`, provider: 'local', password: HASH },
          ...{
            confirmed: true,
            blocked: false,
            resetPasswordToken: 'code in clear',
            confirmationToken: null,
          },
        }),
      ),
    ],
    links: [
      ...PERMISSIONS.map(({ role }, at) => link(PERMISSION, at + 1, 'permissions', role)),
      ...USERS.map(({ role }, at) => link(USER, at + 1, 'users', role)),
    ],
    configuration: [
      {
        type: 'core-store',
        value: {
          key: 'plugin_users-permissions_advanced',
          value: { allow_register: false, email_confirmation: false, default_role: 'authenticated' },
        },
      },
    ],
  });
  writeFileSync(secretFile, `${SECRET}\n`);
  server = await importAndServe();
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

let summary = '';

async function importAndServe(): Promise<RunningServer> {
  const imported = await runVarve(['import', archive, '--data', data, '--role-drafts', 'editor']);
  summary = imported.stdout;
  const login = ['--login', '--jwt-secret-file', secretFile, '--login-rate-limit', '0'];
  return startServer({ contentTypes: archive, data, arguments: login });
}

async function signIn(identifier: string): Promise<string> {
  const { status, body } = await createAsk(server.url)('/api/auth/local', {
    method: 'POST',
    body: { identifier, password: PASSWORD },
  });
  expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('"jwt"')]);
  return body.jwt as string;
}

async function titles(token: string | undefined, query = ''): Promise<unknown> {
  const { status, body } = await createAsk(server.url, token)(`/api/pages${query}`);
  return status === 200 ? body.data.map(({ title }: { title: string }) => title) : status;
}

describe('a project that moves in with its users', () => {
  test('signs users in with their passwords of Strapi', async () => {
    const ask = createAsk(server.url, await signIn('alice@example.com'));
    expect((await ask('/api/users/me')).body).toMatchObject({ id: 1, username: 'alice' });
  });

  test('accepts JWTs of Strapi until the password changes, and warns of the short secret', async () => {
    const jwt = await new SignJWT({ id: 1 })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt()
      .setExpirationTime('30d')
      .sign(Buffer.from(SECRET));
    const ask = createAsk(server.url, jwt);
    expect((await ask('/api/users/me')).status).toBe(200);
    expect(server.output()).toContain('fewer than 32 bytes');
    const change = {
      currentPassword: PASSWORD,
      password: 'another one',
      passwordConfirmation: 'another one',
    };
    const changed = await ask('/api/auth/change-password', { method: 'POST', body: change });
    expect(changed.status).toBe(200);
    expect((await ask('/api/users/me')).status).toBe(401);
    expect((await createAsk(server.url, changed.body.jwt)('/api/users/me')).status).toBe(200);
  });

  test('gives a role its rights of Strapi, and drafts only to the named roles', async () => {
    const editor = await signIn('emma');
    expect(await titles(undefined)).toBe(403);
    expect(await titles(editor)).toEqual(['Published']);
    expect(await titles(editor, '?status=draft')).toEqual(['Draft']);
    expect(summary).toMatch(/Roles that see drafts in Strapi, but not in Varve.*\n {2}authenticated\n/);
    expect(
      await createAsk(server.url, editor)('/api/pages', { method: 'POST', body: { data: {} } }),
    ).toMatchObject({
      status: 403,
    });
  });

  test('applies its switches and permissions: users cannot register, and Public has no right to register', async () => {
    const register = { username: 'new', email: 'new@example.com', password: 'new password' };
    const { status, body } = await createAsk(server.url)('/api/auth/local/register', {
      method: 'POST',
      body: register,
    });
    expect([status, body.error.name]).toEqual([403, 'ForbiddenError']);
  });

  test('stores no code in clear', async () => {
    const events = await runVarve(['events', '--raw', '--data', data]);
    expect(events.stdout).toContain('"entry-imported"');
    expect(events.stdout).not.toContain('code in clear');
    expect(summary).toContain('resetPasswordToken: omitted: users request a new code (2)');
  });

  test('imports the same archive again without an event', async () => {
    const count = async () =>
      (await runVarve(['events', '--raw', '--data', data])).stdout.split('role-defined').length;
    const before = await count();
    await runVarve(['import', archive, '--data', data, '--role-drafts', 'editor']);
    expect(await count()).toBe(before);
  });

  test('exports its users, roles and switches to Strapi', async () => {
    const file = join(folder, 'out.tar.gz');
    const exported = await runVarve(['export', '--strapi', file, '--data', data]);
    expect(exported.stdout).toContain('rows');
    const lines: Record<string, unknown>[] = [];
    for await (const part of archiveFiles({ file, onBytes: () => {} })) {
      if (!part.name.endsWith('.jsonl')) for await (const _ of part.content);
      else
        for await (const line of readJsonLines(part, ANY_LINE)) lines.push(line as Record<string, unknown>);
    }
    const text = lines.map((line) => JSON.stringify(line));
    expect(text.filter((line) => line.includes('"type":"editor"'))).toHaveLength(1);
    expect(text.join('\n')).toContain(HASH);
    expect(text.join('\n')).not.toContain('varveLogin');
    expect(text.filter((line) => line.includes('plugin_users-permissions_advanced'))).toEqual([
      expect.stringContaining('"allow_register":false'),
    ]);
    const actions = lines.flatMap(({ type, data: values }) =>
      type === PERMISSION ? [(values as { readonly action: string }).action] : [],
    );
    expect(actions.sort()).toEqual(expect.arrayContaining(PERMISSIONS.map(({ action }) => action)));
  });
});
