import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { CHEAP_PASSWORDS, type LoginServer, startLoginServer } from './login-server.ts';
import { type SmtpServer, startSmtpServer } from './smtp-server.ts';

const USER = { username: 'grace', email: 'grace@example.com', password: 'a long password' };

describe('options of the login', takesMinutes('options of the login'), () => {
  const contentTypes = mkdtempSync(join(tmpdir(), 'varve-login-options-'));
  const data = createDataDirectory();
  let smtp: SmtpServer;
  let server: LoginServer;
  let rehashing: RunningServer | undefined;
  const post = (path: string, body: object) =>
    createAsk(server.url)(`/api/auth/${path}`, { method: 'POST', body });
  const signIn = () => post('local', { identifier: USER.username, password: USER.password });
  const mail = async (seen: number) => {
    await expect.poll(() => smtp.mails.length, { timeout: 30_000 }).toBeGreaterThan(seen);
    return smtp.mails[seen];
  };

  beforeAll(async () => {
    cpSync(CONFORMANCE_SCHEMA, contentTypes, { recursive: true });
    const folder = join(contentTypes, 'extensions/users-permissions/content-types/user');
    mkdirSync(folder, { recursive: true });
    const attributes = { phone: { type: 'string' }, vip: { type: 'boolean' } };
    writeFileSync(
      join(folder, 'schema.json'),
      JSON.stringify({
        ...{
          kind: 'collectionType',
          info: { singularName: 'user', pluralName: 'users', displayName: 'User' },
        },
        attributes,
      }),
    );
    smtp = await startSmtpServer();
    const mails = [
      '--mail',
      `smtp://sender:secret@127.0.0.1:${smtp.port}`,
      '--mail-from',
      'Cook <cook@example.com>',
    ];
    const others = [
      '--register-fields',
      'phone',
      '--jwt-expires',
      '12h',
      '--public-url',
      'https://cook.example.com/',
    ];
    server = await startLoginServer({ contentTypes, data, arguments: [...mails, ...others] });
  }, 300_000);
  afterAll(async () => {
    await Promise.all([server?.dispose(), rehashing?.dispose()]);
    smtp?.close();
    for (const folder of [contentTypes, data]) rmSync(folder, { recursive: true, force: true });
  });

  test('--register-fields: a registration accepts only these attributes', async () => {
    const refused = await post('local/register', { ...USER, phone: '1', vip: true });
    expect([refused.status, refused.body.error.message]).toEqual([400, 'Invalid parameters: vip']);
    const { status, body } = await post('local/register', { ...USER, phone: '+39 081' });
    expect([status, body.user.phone]).toEqual([200, '+39 081']);
  });

  test('--jwt-expires: a JWT has its expiry', async () => {
    const { exp = 0, iat = 0 } = decodeJwt((await signIn()).body.jwt);
    expect(exp - iat).toBe(12 * 3_600);
  });

  test('--mail: codes are mailed by the server that the option names', async () => {
    expect((await post('forgot-password', { email: USER.email })).status).toBe(200);
    const reset = await mail(0);
    expect(reset).toMatchObject({ from: 'MAIL FROM:<cook@example.com>', to: 'RCPT TO:<grace@example.com>' });
    expect(reset?.text).toContain('From: Cook <cook@example.com>');
    expect(smtp.senders).toContain('sender secret');
    await server.setSwitches({ email_confirmation: true });
    const other = { ...USER, username: 'ada', email: 'ada@example.com' };
    expect((await post('local/register', other)).body).not.toHaveProperty('jwt');
    const confirmation = decodeQuoted((await mail(1))?.text ?? '');
    const link = /https:\/\/cook\.example\.com(\/\S+?confirmation=[\w-]+)/.exec(confirmation)?.[1];
    const confirmed = await fetch(`${server.url}${link}`, { redirect: 'manual' });
    expect(confirmed.status).toBe(302);
    await server.setSwitches({ email_confirmation: false });
  });

  test('--mail: registrations fail without the mail server, and the log does not show its password', async () => {
    smtp.close();
    await server.setSwitches({ email_confirmation: true });
    const { status, body } = await post('local/register', {
      ...USER,
      username: 'eve',
      email: 'eve@example.com',
    });
    expect([status, body.error.message]).toEqual([400, 'Error sending confirmation email']);
    expect((await post('forgot-password', { email: USER.email })).status).toBe(200);
    await expect
      .poll(() => server.output().split('a mail could not be sent').length, { timeout: 30_000 })
      .toBe(3);
    expect(server.output()).not.toContain('sender:secret');
    await server.setSwitches({ email_confirmation: false });
  });

  test('--rehash argon2: a password is hashed again when its user signs in, and an export names the user', async () => {
    const hashes = async () => {
      const { stdout } = await runVarve(['events', '--raw', '--data', data]);
      return [stdout.includes('$2b$'), stdout.includes('$argon2id$')];
    };
    expect(await hashes()).toEqual([true, false]);
    await server.stop();
    const login = ['--login', '--login-rate-limit', '0', '--rehash', 'argon2'];
    rehashing = await startServer({ contentTypes, data, arguments: login, env: CHEAP_PASSWORDS });
    const again = () =>
      createAsk(rehashing?.url ?? '')('/api/auth/local', {
        method: 'POST',
        body: { identifier: USER.username, password: USER.password },
      });
    for (let times = 0; times < 2; times++) expect((await again()).status).toBe(200);
    expect(await hashes()).toEqual([true, true]);
    const { stdout } = await runVarve([
      'export',
      '--strapi',
      join(contentTypes, 'out.tar.gz'),
      '--data',
      data,
    ]);
    expect(stdout).toContain('grace');
    expect(stdout).not.toContain('ada');
  });
});

/** Decodes quoted-printable, which mails with long lines use. */
function decodeQuoted(text: string): string {
  return text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}
