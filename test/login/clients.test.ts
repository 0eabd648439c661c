import { strapi } from '@strapi/client';
import sdkModule from 'strapi-sdk-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoginServer, startLoginServer } from './login-server.ts';

/** Unmodified clients from npm. */
// The types of the SDK describe the CommonJS build, where the class is one level deeper.
const Strapi = sdkModule as unknown as typeof sdkModule.default;

let server: LoginServer;
beforeAll(async () => {
  server = await startLoginServer();
});
afterAll(() => server.dispose());

const USER = { username: 'clara', email: 'clara@example.com', password: 'a long password' };

test('strapi-sdk-js registers, signs in, and reads the user', async () => {
  const sdk = new Strapi({ url: server.url });
  const { jwt, user } = await sdk.register(USER);
  expect(user).toMatchObject({ username: 'clara' });
  const signedIn = await sdk.login({ identifier: USER.email, password: USER.password });
  expect(signedIn.user).toMatchObject({ id: (user as { readonly id: number }).id });
  sdk.setToken(jwt);
  await expect(sdk.login({ identifier: USER.email, password: 'wrong' })).rejects.toMatchObject({
    error: { status: 400, name: 'ValidationError', message: 'Invalid identifier or password' },
  });
});

test('@strapi/client reads users/me with the JWT of a sign-in', async () => {
  const user = { ...USER, username: 'carl', email: 'carl@example.com' };
  const anonymous = strapi({ baseURL: `${server.url}/api` });
  const send = (path: string, body: object) =>
    anonymous.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await send('auth/local/register', user)).status).toBe(200);
  const answer = await send('auth/local', { identifier: user.username, password: user.password });
  const { jwt } = (await answer.json()) as { readonly jwt: string };
  const client = strapi({ baseURL: `${server.url}/api`, auth: jwt });
  expect(await (await client.fetch('users/me')).json()).toMatchObject({ username: 'carl' });
});
