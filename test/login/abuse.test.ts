import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../services/command/command-identity.ts';
import { createAsk } from '../support/access-client.ts';
import { openEvents } from '../support/event-source.ts';
import { runVarve } from '../support/run-varve.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type LoginServer, startLoginServer } from './login-server.ts';

const PASSWORD = 'a long password';

let server: LoginServer;
beforeAll(async () => {
  server = await startLoginServer();
  await server.setRole('authenticated', { allow: 'tag.find' });
});
afterAll(() => server.dispose());

const post = (path: string, body: object, token?: string) =>
  createAsk(server.url, token)(`/api/auth/${path}`, { method: 'POST', body });

async function register(username: string): Promise<{ readonly jwt: string; readonly id: number }> {
  const email = `${username}@example.com`;
  const { status, body } = await post('local/register', { username, email, password: PASSWORD });
  expect(status, JSON.stringify(body)).toBe(200);
  return { jwt: body.jwt, id: body.user.id };
}

test('a confirmed address leads to any page, also one whose address is not ASCII', async () => {
  await server.setSwitches({
    email_confirmation: true,
    email_confirmation_redirection: 'https://example.com/你好 a',
  });
  onTestFinished(() => server.setSwitches({ email_confirmation: false }));
  const seen = server.mails().length;
  const body = { username: 'confirmed', email: 'confirmed@example.com', password: PASSWORD };
  expect((await post('local/register', body)).status).toBe(200);
  const [link = ''] = /http:\S+confirmation=[^<\s]+/.exec((await server.mailAfter(seen)).text) ?? [];
  const { status, headers } = await fetch(link, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([302, 'https://example.com/%E4%BD%A0%E5%A5%BD%20a']);
});

describe('a JWT', () => {
  test('has the current rights of the role of its user, and none when the user is blocked', async () => {
    const { jwt, id } = await register('roles');
    const ask = createAsk(server.url, jwt);
    expect((await ask('/api/tags')).status).toBe(200);
    await server.setRole('guest', { allow: '' });
    const roles = (await server.admin('/_varve/roles')).body.data as { type: string; id: number }[];
    const role = roles.find(({ type }) => type === 'guest')?.id;
    expect((await server.admin(`/api/users/${id}`, { method: 'PUT', body: { role } })).status).toBe(200);
    expect((await ask('/api/tags')).status).toBe(403);
    await server.setRole('guest', { allow: 'tag.find' });
    expect((await ask('/api/tags')).status).toBe(200);
    await server.admin(`/api/users/${id}`, { method: 'PUT', body: { blocked: true } });
    expect((await ask('/api/tags')).status).toBe(401);
  });

  test('ends the streams of its user at once when the user is blocked or removed', async () => {
    await server.setRole('authenticated', { allow: 'tag.find' });
    for (const change of ['blocked', 'removed'] as const) {
      const { jwt, id } = await register(`stream-${change}`);
      const reader = await openEvents(`${server.url}/api/_changes?types=tags`, {
        authorization: `Bearer ${jwt}`,
      });
      onTestFinished(reader.close);
      const options =
        change === 'removed' ? { method: 'DELETE' } : { method: 'PUT', body: { blocked: true } };
      expect((await server.admin(`/api/users/${id}`, options)).status).toBe(200);
      await reader.until((each) => each.isEnded());
    }
  });

  test('ends when the password of its user changes, also by an administrator', async () => {
    const { jwt, id } = await register('changed');
    expect((await createAsk(server.url, jwt)('/api/users/me')).status).toBe(200);
    const body = { password: 'set by an administrator' };
    expect((await server.admin(`/api/users/${id}`, { method: 'PUT', body })).status).toBe(200);
    expect((await createAsk(server.url, jwt)('/api/users/me')).status).toBe(401);
  });

  test('makes its user the author of what it writes', async () => {
    const { jwt } = await register('author');
    await server.setRole('authenticated', { allow: 'tag.find,tag.create' });
    const { status, body } = await createAsk(server.url, jwt)('/api/tags', {
      method: 'POST',
      body: { data: { key: 'by-a-user', name: 'by a user' } },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const { stdout } = await runVarve([
      'events',
      '--actor',
      'user',
      '--type',
      'entry-created',
      '--data',
      server.data,
    ]);
    expect(stdout).toContain('by a user');
  });
});

describe('nobody can find out who is registered', () => {
  test('by signing in, or by requesting mails', async () => {
    await register('known');
    for (const [path, known, unknown] of [
      ['local', { identifier: 'known', password: 'x' }, { identifier: 'nobody', password: 'x' }],
      ['forgot-password', { email: 'known@example.com' }, { email: 'nobody@example.com' }],
    ] as const) {
      const [one, other] = [await post(path, known), await post(path, unknown)];
      expect([one.status, one.body]).toEqual([other.status, other.body]);
      expect([...one.headers.keys()]).toEqual([...other.headers.keys()]);
    }
  });
});

describe('a mailed code', () => {
  const forms = ['reset', 'confirmation'];
  test.each(forms)('is not valid after a change of the address: %s', async (kind) => {
    const { id } = await register(`moved-${kind}`);
    const change = (body: object) => server.admin(`/api/users/${id}`, { method: 'PUT', body });
    await change({ confirmed: false });
    const seen = server.mails().length;
    const path = kind === 'reset' ? 'forgot-password' : 'send-email-confirmation';
    await post(path, { email: `moved-${kind}@example.com` });
    const { text } = await server.mailAfter(seen);
    const code = /(?:code|confirmation)=([^<\s]+)/.exec(text)?.[1];
    expect((await change({ email: `new-${kind}@example.com` })).status).toBe(200);
    const form = { code, password: 'of a stranger', passwordConfirmation: 'of a stranger' };
    const { status } =
      kind === 'reset'
        ? await post('reset-password', form)
        : await createAsk(server.url)(`/api/auth/email-confirmation?confirmation=${code}`);
    expect(status).toBe(400);
    expect((await server.admin(`/api/users/${id}`)).body.confirmed).toBe(false);
  });
});

describe('at once', () => {
  test('one of many concurrent registrations of an address succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        post('local/register', { username: `racer${at}`, email: 'race@example.com', password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
    const { body } = await server.admin('/api/users?filters[email]=race@example.com');
    expect(body).toHaveLength(1);
  });

  test('a code for a new password works for one of many concurrent requests', async () => {
    await register('coded');
    const seen = server.mails().length;
    await post('forgot-password', { email: 'coded@example.com' });
    const code = /code=([^<\s]+)/.exec((await server.mailAfter(seen)).text)?.[1];
    const answers = await Promise.all(
      [1, 2, 3].map((at) => {
        const password = `new password ${at}`;
        return post('reset-password', { code, password, passwordConfirmation: password });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    const { stdout } = await runVarve(['events', '--raw', '--data', server.data]);
    expect(stdout).toContain('reset-password');
    for (const secret of [
      String(code),
      PASSWORD,
      'new password 1',
      answers.find(({ status }) => status === 200)?.body.jwt,
    ])
      expect(stdout).not.toContain(secret);
  });
});

test('the log stores no digest of a body with a password that would let anyone test guesses', async () => {
  const user = { username: 'digested', email: 'digested@example.com', password: PASSWORD, role: 1 };
  const headers = { 'idempotency-key': 'digested' };
  const create = () => server.admin('/api/users', { method: 'POST', body: user, headers });
  const [first, second] = [await create(), await create()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body.id).toBe(first.body.id);
  const { stdout } = await runVarve(['events', '--raw', '--data', server.data]);
  expect(stdout).toContain('"request"');
  expect(stdout).not.toContain(digestOf('POST', '/api/users', JSON.stringify(user)));
});

describe('servers of their own', takesMinutes('logins at several servers'), () => {
  test('an acknowledged new password is stored after kill -9', { timeout: 300_000 }, async () => {
    const first = await startLoginServer();
    onTestFinished(first.dispose);
    const user = { username: 'lasting', email: 'lasting@example.com', password: PASSWORD };
    const { body } = await first.ask('/api/auth/local/register', { method: 'POST', body: user });
    const change = { currentPassword: PASSWORD, password: 'kept', passwordConfirmation: 'kept-password' };
    const kept = { ...change, password: 'kept-password' };
    const ask = createAsk(first.url, body.jwt);
    expect((await ask('/api/auth/change-password', { method: 'POST', body: kept })).status).toBe(200);
    await first.stop('SIGKILL');
    const second = await startServer({ data: first.data, arguments: ['--login'] });
    onTestFinished(second.dispose);
    const signIn = async (password: string) => {
      const credentials = { identifier: 'lasting', password };
      return (await createAsk(second.url)('/api/auth/local', { method: 'POST', body: credentials })).status;
    };
    expect([await signIn('kept-password'), await signIn(PASSWORD)]).toEqual([200, 400]);
  });

  test('attempts are limited by path', { timeout: 300_000 }, async () => {
    const limited = await startServer({ arguments: ['--login', '--login-rate-limit', '3'] });
    onTestFinished(limited.dispose);
    const attempt = (path: string) =>
      createAsk(limited.url)(path, { method: 'POST', body: { identifier: 'x', password: 'x' } });
    const statuses: number[] = [];
    for (let at = 0; at < 4; at++) statuses.push((await attempt('/api/auth/local')).status);
    expect(statuses).toEqual([400, 400, 400, 429]);
    expect((await attempt('/api/auth/reset-password')).status).toBe(400);
    const mailTo = async (n: number) => {
      const body = { email: `person${n}@example.com` };
      return (await createAsk(limited.url)('/api/auth/forgot-password', { method: 'POST', body })).status;
    };
    const mails = [];
    for (let at = 0; at < 31; at++) mails.push(await mailTo(at));
    expect(mails.indexOf(429)).toBe(30);
  });

  test('a token of an identity provider has the role that its claim names, if it is for this audience', {
    timeout: 300_000,
  }, async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }] });
    const provider = createServer((_request, response) => response.end(keys));
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void provider.close());
    const { port } = provider.address() as AddressInfo;
    const settings = ['--jwks', `http://127.0.0.1:${port}/keys`, '--jwks-audience', 'varve'];
    const mapped = ['--jwks-role-claim', 'realm.roles', '--jwks-roles', 'writer=author'];
    const other = await startLoginServer({ arguments: [...settings, ...mapped] });
    onTestFinished(other.dispose);
    await other.setRole('author', { allow: 'tag.find' });
    const token = (audience: string, roles: readonly string[], sub: unknown = 'person') =>
      new SignJWT({ realm: { roles }, sub: sub as string })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setAudience(audience)
        .setExpirationTime('5m')
        .sign(privateKey);
    const status = async (jwt: string) => (await createAsk(other.url, jwt)('/api/tags')).status;
    expect(await status(await token('varve', ['writer']))).toBe(200);
    expect(await status(await token('varve', ['reader']))).toBe(403);
    expect(await status(await token('others', ['writer']))).toBe(401);
    // The subject must be a text (RFC 7519 section 4.1.2).
    expect(await status(await token('varve', ['writer'], 7))).toBe(401);
  });

  test('people sign in at any process of a log, and their JWTs are valid in all', {
    timeout: 300_000,
  }, async () => {
    const first = await startLoginServer();
    onTestFinished(first.dispose);
    const log = `sqlite:${first.data}/events.db`;
    const second = await startServer({
      arguments: ['--event-store', log, '--login', '--login-rate-limit', '0'],
    });
    onTestFinished(second.dispose);
    const user = { username: 'roaming', email: 'roaming@example.com', password: PASSWORD };
    const follower = createAsk(second.url);
    const { status, body } = await follower('/api/auth/local/register', { method: 'POST', body: user });
    expect([status, body.user?.username]).toEqual([200, 'roaming']);
    for (const { url } of [first, second])
      expect((await createAsk(url, body.jwt)('/api/users/me')).body).toMatchObject({ username: 'roaming' });
  });
});
