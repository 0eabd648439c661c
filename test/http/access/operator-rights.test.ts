import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoginServer, startLoginServer } from '../../login/login-server.ts';
import { type Ask, createAsk, createTokenOver } from '../../support/access-client.ts';

/** Callers without full access: nobody, a signed-in user, and tokens. */
const TOKENS = [
  { name: 'reads all', type: 'read-only', drafts: true, history: true },
  { name: 'tag.create', type: 'custom', allow: ['tag.create'] },
  { name: 'restaurant.*', type: 'custom', allow: ['restaurant.*'] },
  { name: 'restaurant.* with drafts', type: 'custom', allow: ['restaurant.*'], drafts: true },
  { name: 'user.*', type: 'custom', allow: ['user.*'] },
  { name: 'file.*', type: 'custom', allow: ['file.*'] },
] as const;
const CALLERS = ['anonymous', 'signed-in user', ...TOKENS.map(({ name }) => name)];
/** Path that every caller may use: a ticket has the rights of its caller. */
const FOR_ALL = '/_varve/tickets';

let server: LoginServer;
const asks = new Map<string, Ask>();
/** Operations that the description names for callers with full access. `known`: the path of something that exists. */
let operations: readonly { readonly method: string; readonly path: string; readonly known: string }[];

beforeAll(async () => {
  server = await startLoginServer();
  const body = { username: 'ada', email: 'ada@example.com', password: 'words of a password' };
  const user = await server.ask('/api/auth/local/register', { method: 'POST', body });
  asks.set('anonymous', server.ask).set('signed-in user', createAsk(server.url, user.body.jwt));
  for (const token of TOKENS)
    asks.set(token.name, createAsk(server.url, await createTokenOver(server.admin, token)));
  const known = await knownIds();
  const { paths } = (await server.admin('/openapi.json')).body;
  operations = Object.entries<object>(paths)
    .filter(([path]) => path.startsWith('/_varve/') && path !== FOR_ALL)
    .flatMap(([path, item]) =>
      Object.keys(item).map((method) => ({ method: method.toUpperCase(), path, known: known(path) })),
    );
}, 120_000);
afterAll(() => server?.dispose());

/** Makes one of everything that has a path. Returns a function that fills in the parameters of a path with their ids. */
async function knownIds(): Promise<(path: string) => string> {
  const post = async (path: string, data: object) => {
    const { status, body } = await server.admin(path, { method: 'POST', body: { data } });
    expect(status, JSON.stringify(body)).toBe(201);
    return body.data;
  };
  const hook = await post('/_varve/webhooks', { url: 'https://receiver.example.com', name: 'hook' });
  const release = await post('/_varve/releases', { name: 'release' });
  const entry = await post('/api/restaurants?status=draft', { key: 'one', name: 'One' });
  const action = await post(`/_varve/releases/${release.id}/actions`, {
    ...{ type: 'publish', contentType: 'api::restaurant.restaurant', entryDocumentId: entry.documentId },
  });
  const [token] = (await server.admin('/_varve/tokens')).body.data;
  const ids: Readonly<Record<string, string>> = {
    ...{ webhooks: hook.id, releases: String(release.id), tokens: token.id, events: '1' },
    ...{ roles: 'authenticated', synonyms: 'api::tag.tag', rules: 'api::tag.tag' },
  };
  return (path) =>
    path
      .replace('{actionId}', String(action.id))
      .replace(/^\/_varve\/(\w+)\/\{\w+\}/, (_, name: string) => `/_varve/${name}/${ids[name]}`);
}

function unknownOf(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '999999');
}

function send(ask: Ask, method: string, path: string) {
  return ask(path, { method, ...(method === 'POST' || method === 'PUT' ? { body: {} } : {}) });
}

test('the description names the paths of operators, and full access tells known from unknown', async () => {
  expect(operations.length).toBeGreaterThan(55);
  const named = operations.filter(({ path, method }) => path.includes('{') && method === 'GET');
  expect(named.length).toBeGreaterThan(5);
  for (const { path, known } of named) {
    expect([known, (await server.admin(known)).status]).toEqual([known, 200]);
    expect([400, 404], path).toContain((await server.admin(unknownOf(path))).status);
  }
});

test.each(CALLERS)('%s gets one answer for all of them, known or not', async (caller) => {
  const ask = asks.get(caller) as Ask;
  const before = (await server.admin('/_varve/state')).body.data.log.position;
  const unknown = (await ask('/_varve/nothing')).body;
  const refused = { status: 403, name: 'ForbiddenError', message: 'Forbidden', details: {} };
  for (const { method, path, known } of operations) {
    // The settings are like a path that does not exist.
    const wanted = path === '/_varve/settings' ? unknown : { data: null, error: refused };
    for (const asked of new Set([known, unknownOf(path)])) {
      const { body } = await send(ask, method, asked);
      expect([method, asked, body]).toEqual([method, asked, wanted]);
    }
  }
  expect((await server.admin('/_varve/state')).body.data.log.position, 'nothing was written').toBe(before);
});

test('every caller gets a ticket, which has no more rights than the caller', async () => {
  for (const [caller, ask] of asks) {
    const { status, body } = await send(ask, 'POST', FOR_ALL);
    expect([caller, status]).toEqual([caller, 201]);
    const headers = { accept: 'text/event-stream' };
    const stream = await server.ask(`/_varve/events?ticket=${body.data.ticket}`, { headers });
    expect([caller, stream.status]).not.toEqual([caller, 200]);
  }
});
