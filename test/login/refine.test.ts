import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type LoginServer, startLoginServer } from './login-server.ts';

const PACKAGE = '@refinedev/strapi-v4';
const USER = { username: 'nora', email: 'nora@example.com', password: 'a long password' };

/** The auth provider of refine's documentation calls these two functions of the package. */
type AuthHelper = (api: string) => {
  readonly login: (
    identifier: string,
    password: string,
  ) => Promise<{ readonly status: number; readonly data: { readonly jwt: string } }>;
  readonly me: (
    token: string,
    options?: { readonly meta: { readonly populate: readonly string[] } },
  ) => Promise<{ readonly status: number; readonly data: object }>;
};

describe("refine's auth provider", takesMinutes("refine's auth provider"), () => {
  let server: LoginServer;
  beforeAll(async () => {
    expect(existsSync(`node_modules/${PACKAGE}`), `${PACKAGE} is not there: run npm ci`).toBe(true);
    server = await startLoginServer();
  }, 300_000);
  afterAll(() => server?.dispose());

  test('signs in, reads the user, and the role if it has the right', async () => {
    const require = createRequire(import.meta.url);
    const refine = require(PACKAGE) as { readonly AuthHelper: AuthHelper };
    const helper = refine.AuthHelper(`${server.url}/api`);
    await server.ask('/api/auth/local/register', { method: 'POST', body: USER });
    const { status, data } = await helper.login(USER.email, USER.password);
    expect(status).toBe(200);
    const withRole = { meta: { populate: ['role'] } };
    expect((await helper.me(data.jwt)).data).toMatchObject({ username: 'nora', email: USER.email });
    expect((await helper.me(data.jwt, withRole)).data).not.toHaveProperty('role');
    await server.setRole('authenticated', { login: ['user.me', 'role.find'] });
    expect((await helper.me(data.jwt, withRole)).data).toMatchObject({
      username: 'nora',
      role: { id: 1, type: 'authenticated', name: 'Authenticated' },
    });
    expect((await helper.me(data.jwt)).data).not.toHaveProperty('role');
    await expect(helper.login(USER.email, 'wrong')).rejects.toMatchObject({ response: { status: 400 } });
    await expect(helper.me('no.jwt.atall')).rejects.toMatchObject({ response: { status: 401 } });
  });
});
