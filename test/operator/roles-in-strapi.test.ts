import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLoginServer } from '../login/login-server.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { needsStrapi, startStrapi } from '../support/strapi-node.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const USER = { username: 'emma', email: 'emma@example.com', password: 'a long password' };

describe('roles and users in a real Strapi', needsStrapi(takesMinutes('roles in a real Strapi')), () => {
  it('users sign in to Strapi with their passwords, and have the rights of their role in Varve', {
    timeout: 900_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-roles-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const archive = join(folder, 'out.tar.gz');
    const server = await startLoginServer();
    onTestFinished(() => server.dispose());
    await server.setRole('editor', { name: 'Editor', allow: 'tag.find,tag.findOne,tag.create' });
    await server.setSwitches({
      default_role: 'editor',
      email_confirmation_redirection: 'https://example.com',
    });
    const registered = await server.ask('/api/auth/local/register', { method: 'POST', body: USER });
    expect(registered.status).toBe(200);
    const { jwt } = registered.body as { readonly jwt: string };
    const body = { data: { key: 'moved', name: 'Moved' } };
    expect((await createAsk(server.url, jwt)('/api/tags', { method: 'POST', body })).status).toBe(201);
    expect((await runVarve(['export', '--strapi', archive, '--data', server.data])).code).toBe(0);

    const strapi = await startStrapi({ database: 'varve_roles' });
    onTestFinished(() => strapi.stop());
    await strapi.importArchive(archive);
    const signIn = (password: string) =>
      createAsk(strapi.url)('/api/auth/local', {
        method: 'POST',
        body: { identifier: USER.email, password },
      });
    expect((await signIn('wrong')).status).toBe(400);
    const { status, body: signedIn } = await signIn(USER.password);
    expect([status, signedIn.user?.username]).toEqual([200, 'emma']);
    const ask = createAsk(strapi.url, signedIn.jwt);
    expect((await ask('/api/users/me')).body).toMatchObject({ email: USER.email });
    const tags = await ask('/api/tags');
    expect([tags.status, tags.body.data.map(({ name }: { name: string }) => name)]).toEqual([200, ['Moved']]);
    const more = { data: { key: 'more', name: 'More' } };
    expect((await ask('/api/tags', { method: 'POST', body: more })).status).toBe(201);
    const path = `/api/tags/${tags.body.data[0].documentId}`;
    expect((await ask(path, { method: 'DELETE' })).status).toBe(403);
    expect((await ask('/api/restaurants')).status).toBe(403);
    const other = { ...USER, username: 'ada', email: 'ada@example.com' };
    const joined = await createAsk(strapi.url)('/api/auth/local/register', { method: 'POST', body: other });
    expect(
      (await createAsk(strapi.url, joined.body.jwt)('/api/tags', { method: 'POST', body: more })).status,
    ).not.toBe(403);
  });
});
