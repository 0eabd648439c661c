import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN_TOKEN } from '../../../shared/access/unknown-token.ts';
import { type Answer, type Ask, createAsk, createTokenOver } from '../../support/access-client.ts';
import { startOnCorpus } from '../../support/loaded-corpus.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
} from '../../support/server.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';

const FORBIDDEN = {
  data: null,
  error: { status: 403, name: 'ForbiddenError', message: 'Forbidden', details: {} },
};
const UNAUTHORIZED = {
  data: null,
  error: { status: 401, name: 'UnauthorizedError', message: UNKNOWN_TOKEN, details: {} },
};

const CALLERS = [
  'anonymous',
  'full-access',
  'read-only',
  'tag.create',
  'restaurant.*',
  'restaurant.* with drafts',
  'user.*',
  'file.*',
] as const;
type Caller = (typeof CALLERS)[number];

/** The callers that may use each route. Bodies are empty, so an allowed request is refused with 400 or 404 and changes nothing. */
const ROUTES: readonly {
  readonly does: string;
  readonly path: string;
  readonly callers: readonly Caller[];
}[] = [
  {
    does: 'GET',
    path: '/api/restaurants',
    callers: ['read-only', 'restaurant.*', 'restaurant.* with drafts'],
  },
  {
    does: 'GET',
    path: '/api/restaurants/:id',
    callers: ['read-only', 'restaurant.*', 'restaurant.* with drafts'],
  },
  { does: 'POST', path: '/api/restaurants', callers: ['restaurant.*', 'restaurant.* with drafts'] },
  { does: 'PUT', path: '/api/restaurants/:id', callers: ['restaurant.*', 'restaurant.* with drafts'] },
  { does: 'DELETE', path: '/api/restaurants/:id', callers: ['restaurant.*', 'restaurant.* with drafts'] },
  {
    does: 'POST',
    path: '/api/restaurants/:id/actions/publish',
    callers: ['restaurant.*', 'restaurant.* with drafts'],
  },
  { does: 'POST', path: '/api/restaurants/:id/actions/unpublish', callers: ['restaurant.* with drafts'] },
  { does: 'POST', path: '/api/restaurants/:id/actions/discard-draft', callers: ['restaurant.* with drafts'] },
  { does: 'GET', path: '/api/tags', callers: ['read-only'] },
  { does: 'POST', path: '/api/tags', callers: ['tag.create'] },
  { does: 'PUT', path: '/api/tags/:id', callers: [] },
  { does: 'GET', path: '/api/users', callers: ['read-only', 'user.*'] },
  { does: 'GET', path: '/api/users/count', callers: ['read-only', 'user.*'] },
  { does: 'GET', path: '/api/users/999', callers: ['read-only', 'user.*'] },
  { does: 'POST', path: '/api/users', callers: ['user.*'] },
  { does: 'PUT', path: '/api/users/999', callers: ['user.*'] },
  { does: 'DELETE', path: '/api/users/999', callers: ['user.*'] },
  { does: 'GET', path: '/api/upload/files', callers: ['read-only', 'file.*'] },
  { does: 'GET', path: '/api/upload/files/999', callers: ['read-only', 'file.*'] },
  { does: 'POST', path: '/api/upload', callers: ['file.*'] },
  { does: 'POST', path: '/api/upload?id=999', callers: ['file.*'] },
  { does: 'DELETE', path: '/api/upload/files/999', callers: ['file.*'] },
  { does: 'GET', path: '/_varve/tokens', callers: [] },
  { does: 'POST', path: '/_varve/tokens', callers: [] },
  { does: 'DELETE', path: '/_varve/tokens/none', callers: [] },
  { does: 'GET', path: '/_varve/public', callers: [] },
  { does: 'PUT', path: '/_varve/public', callers: [] },
  { does: 'GET', path: '/_varve/roles', callers: [] },
  { does: 'PUT', path: '/_varve/roles/author', callers: [] },
  { does: 'GET', path: '/_varve/login', callers: [] },
  { does: 'PUT', path: '/_varve/login', callers: [] },
];

let server: RunningServer;
let asks: Record<Caller, Ask>;

beforeAll(async () => {
  server = await startOnCorpus();
  const full = createAsk(
    server.url,
    await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' }),
  );
  const custom = async (name: string, drafts = false) =>
    createAsk(
      server.url,
      await createTokenOver(full, { name: `${name} ${drafts}`, type: 'custom', allow: [name], drafts }),
    );
  asks = {
    anonymous: createAsk(server.url),
    'full-access': full,
    'read-only': createAsk(server.url, await createTokenOver(full, { name: 'reader', type: 'read-only' })),
    'tag.create': await custom('tag.create'),
    'restaurant.*': await custom('restaurant.*'),
    'restaurant.* with drafts': await custom('restaurant.*', true),
    'user.*': await custom('user.*'),
    'file.*': await custom('file.*'),
  };
}, 300_000);

afterAll(() => server?.dispose());

describe('each caller on each route', () => {
  const CASES = ROUTES.flatMap((route) => CALLERS.map((caller) => ({ ...route, caller })));

  test.each(CASES)('$does $path by $caller', async ({ does, path, callers, caller }) => {
    const request = { method: does, ...(does === 'POST' || does === 'PUT' ? { body: {} } : {}) };
    const { status, body } = await asks[caller](path.replace(':id', 'nobody'), request);
    const isAllowed = caller === 'full-access' || callers.includes(caller);
    if (isAllowed) expect([200, 204, 400, 404]).toContain(status);
    else expect({ status, body }).toEqual({ status: 403, body: FORBIDDEN });
  });

  test('callers without a token learn why, as long as nobody has set public rights', async () => {
    const hints = CALLERS.map(async (caller) => (await asks[caller]('/api/tags')).headers.get('varve-hint'));
    expect(await Promise.all(hints)).toEqual(
      CALLERS.map((caller) =>
        caller === 'anonymous' ? expect.stringMatching(/^development mode has ended .* --public/) : null,
      ),
    );
  });

  test('existing and missing documents get the same 403', async () => {
    const [tag] = (await asks['read-only']('/api/tags')).body.data;
    for (const id of [tag.documentId, 'nobody']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await asks['restaurant.*'](`/api/tags/${id}`, {
          method,
          ...(method === 'PUT' ? { body: { data: {} } } : {}),
        });
        expect(answer.body).toEqual(FORBIDDEN);
      }
    }
  });

  test('rights are checked before the query', async () => {
    const { body } = await asks['restaurant.*']('/api/tags?filters[nope]=1&status=x');
    expect(body).toEqual(FORBIDDEN);
  });

  test('a file is linked only with an entry that the caller may change', async () => {
    const upload = async (ask: Ask): Promise<Answer> => {
      const form = new FormData();
      form.append('ref', 'api::restaurant.restaurant');
      form.append('refId', 'nobody');
      form.append('field', 'logo');
      form.append('files', new Blob(['text']), 'a.txt');
      return ask('/api/upload', { method: 'POST', body: form });
    };
    expect((await upload(asks['file.*'])).body).toEqual(FORBIDDEN);
    expect((await upload(asks['full-access'])).status).toBe(400);
    expect((await asks['full-access']('/api/upload/files')).body).toEqual([]);
  });
});

describe('a token that is not valid', () => {
  test('gets the same answer on every guarded route, whatever is wrong with it', async () => {
    const full = asks['full-access'];
    const secret = await createTokenOver(full, { name: 'short', type: 'read-only' });
    await full('/_varve/tokens/short', { method: 'DELETE' });
    for (const token of [secret, `${secret}x`, 'nonsense', 'varve_', secret.slice(0, -1)]) {
      for (const path of [
        '/api/restaurants',
        '/api/tags/nobody',
        '/api/users',
        '/api/upload/files',
        '/_varve/tokens',
        '/openapi.json',
      ]) {
        const { status, body, headers } = await createAsk(server.url, token)(path);
        expect({ status, body }, `${path} ${token}`).toEqual({ status: 401, body: UNAUTHORIZED });
        expect(headers.get('www-authenticate')).toBe('Bearer');
      }
    }
  });

  test('is refused before its body is read', async () => {
    const { status } = await createAsk(server.url, 'nonsense')('/api/tags', {
      method: 'POST',
      body: { data: 'x'.repeat(2_000_000) },
    });
    expect(status).toBe(401);
  });

  test('is ignored on routes without a check', async () => {
    const ask = createAsk(server.url, 'nonsense');
    expect((await ask('/_health')).status).toBe(204);
    expect((await ask('/docs')).status).toBe(200);
  });

  test('can be one that expired', takesMinutes('tokens and limits over time'), async () => {
    const expires = new Date(Date.now() + 5_000).toISOString();
    const secret = await createTokenOver(asks['full-access'], { name: 'brief', type: 'read-only', expires });
    const ask = createAsk(server.url, secret);
    expect((await ask('/api/tags')).status).toBe(200);
    await vi.waitFor(async () => expect((await ask('/api/tags')).body).toEqual(UNAUTHORIZED), 30_000);
  });
});

describe('tokens over HTTP', () => {
  test('are shown once, and listed without their secret', async () => {
    const full = asks['full-access'];
    const data = { name: 'listed', type: 'custom', allow: 'tag.find, tag.findOne', expires: '1h' };
    const created = await full('/_varve/tokens', { method: 'POST', body: { data } });
    expect(created.body.data).toMatchObject({
      name: 'listed',
      allow: ['tag.find', 'tag.findOne'],
      drafts: false,
      status: 'active',
    });
    const listed = await full('/_varve/tokens');
    const text = JSON.stringify(listed.body);
    expect(text).not.toContain(created.body.data.accessKey.slice(8));
    expect(text).not.toContain('hash');
    expect(listed.headers.get('cache-control')).toBe('no-store');
    const { accessKey, ...rest } = created.body.data;
    expect(accessKey).toMatch(/^varve_/);
    expect(listed.body.data).toContainEqual(rest);
  });

  test.each([
    [{}, 2],
    [{ name: 'x', type: 'admin' }, 1],
    [{ name: 'x', type: 'custom' }, 1],
    [{ name: 'x', type: 'custom', allow: ['nope.find', 'tag.read'] }, 2],
    [{ name: 'x', type: 'read-only', allow: ['tag.find'] }, 1],
    [{ name: 'x', type: 'custom', allow: ['restaurant.unpublish'] }, 1],
    [{ name: 'x', type: 'read-only', expires: 'yesterday' }, 1],
    [{ name: 'x', type: 'read-only', drafts: 'yes', extra: 1 }, 2],
  ])('%j is refused with %i problems', async (data, count) => {
    const { status, body } = await asks['full-access']('/_varve/tokens', { method: 'POST', body: { data } });
    expect({ status, name: body.error.name }).toEqual({ status: 400, name: 'ValidationError' });
    expect(body.error.details.errors).toHaveLength(count);
  });
});

describe('callers without a token', () => {
  test('refuses members that would be ignored', async () => {
    const data = { allow: ['tag.find'], drafts: true };
    const { status, body } = await asks['full-access']('/_varve/public', { method: 'PUT', body: { data } });
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(/^drafts is unknown/)]);
    expect((await asks['full-access']('/_varve/public', {})).body.data.allow).not.toContain('tag.find');
  });

  test('get what public rights allow, from the next request on', async () => {
    const setPublic = (allow: readonly string[]) =>
      asks['full-access']('/_varve/public', { method: 'PUT', body: { data: { allow } } });
    onTestFinished(async () => void (await setPublic([])));
    expect((await setPublic(['tag.find'])).body.data).toEqual({ development: false, allow: ['tag.find'] });
    expect((await asks.anonymous('/api/tags')).status).toBe(200);
    expect((await asks.anonymous('/api/tags?populate=restaurants')).body.error.message).toBe(
      'Invalid key restaurants',
    );
    expect((await asks.anonymous('/api/tags?status=draft')).body.error.message).toBe('Invalid key status');
    expect((await asks.anonymous('/api/restaurants')).body).toEqual(FORBIDDEN);
    await setPublic([]);
    const refused = await asks.anonymous('/api/tags');
    expect([refused.body, refused.headers.get('varve-hint')]).toEqual([FORBIDDEN, null]);
  });
});

test.each(['nothing', { toString: 1 }, [{ toString: 1 }], [['tag.find']], 5])(
  'public rights are not %j',
  async (allow) => {
    const { status, body } = await asks['full-access']('/_varve/public', {
      method: 'PUT',
      body: { data: { allow } },
    });
    expect({ status, name: body.error.name }).toEqual({ status: 400, name: 'ValidationError' });
    expect((await asks['full-access']('/_varve/public', {})).body.data.allow).toEqual([]);
  },
);

describe('varve token', () => {
  const token = (...args: string[]) => spawnVarve(['token', ...args, '--data', server.data]).exited;

  test('makes a token that a running server accepts, and revokes it there', async () => {
    const { code, output } = await token(
      'create',
      '--name',
      'from outside',
      '--type',
      'read-only',
      '--expires',
      '30d',
    );
    expect(code).toBe(0);
    const [secret = ''] = /^varve_\S{43}$/m.exec(output) ?? [];
    const ask = createAsk(server.url, secret);
    await expect.poll(async () => (await ask('/api/tags')).status).toBe(200);
    expect((await token('list')).output).toMatch(/from outside +read-only +active +20\d\d-/);
    expect((await token('revoke', 'from outside')).code).toBe(0);
    await expect.poll(async () => (await ask('/api/tags')).body).toEqual(UNAUTHORIZED);
    expect((await token('list')).output).toMatch(/from outside +read-only +revoked/);
    expect((await token('revoke', 'from outside')).output).toContain(
      'There is no token "from outside" in force',
    );
  });

  test('names every problem and makes no token', async () => {
    const { code, output } = await token(
      'create',
      '--name',
      ' ',
      '--type',
      'custom',
      '--allow',
      'nope.find',
      '--expires',
      'soon',
    );
    expect(code).toBe(1);
    expect(output).toContain('--name is empty');
    const named = await token(
      'create',
      '--name',
      'x',
      '--type',
      'custom',
      '--allow',
      'nope.find,tag.fly',
      '--expires',
      'soon',
      '--content-types',
      CONFORMANCE_SCHEMA,
    );
    for (const problem of [
      'no content type nope',
      'tag has no action fly',
      '--expires must be a duration such as 12h, 30d or 4w, or a future date, got "soon"',
    ])
      expect(named.output).toContain(problem);
    expect(
      (await token('create', '--name', 'x', '--type', 'custom', '--allow', 'tag.find')).output,
    ).toContain('--content-types');
    expect((await token('list')).output).not.toMatch(/\bx +custom/);
  });
});

describe('a server', () => {
  test(
    'is open to other machines after a token was made while it did not run',
    takesMinutes('tokens and limits over time'),
    async () => {
      const data = createDataDirectory();
      onTestFinished(() => rmSync(data, { recursive: true, force: true }));
      // `varve token` refuses a directory without a log.
      await (await startServer({ data })).stop();
      const created = await spawnVarve([
        'token',
        'create',
        '--name',
        'first',
        '--type',
        'full-access',
        '--data',
        data,
      ]).exited;
      const [secret] = /^varve_\S{43}$/m.exec(created.output) ?? [];
      const open = await startServer({ data, arguments: ['--host', '0.0.0.0'] });
      onTestFinished(() => open.dispose());
      expect(open.output()).not.toContain('Development mode');
      const base = open.url.replace('0.0.0.0', '127.0.0.1');
      expect((await createAsk(base)('/api/tags')).body).toEqual(FORBIDDEN);
      expect((await createAsk(base, secret)('/api/tags')).status).toBe(200);
    },
  );

  test(
    'keeps its public rights, and lists problems of the setting',
    takesMinutes('public rights over restarts'),
    async () => {
      const data = createDataDirectory();
      onTestFinished(() => rmSync(data, { recursive: true, force: true }));
      const first = await startServer({ data, arguments: ['--public', 'tag.find,topic.*'] });
      expect((await createAsk(first.url)('/api/tags')).status).toBe(200);
      await first.stop();
      const second = await startServer({ data });
      onTestFinished(() => second.dispose());
      expect((await createAsk(second.url)('/api/topics')).status).toBe(200);
      expect((await createAsk(second.url)('/api/restaurants')).body).toEqual(FORBIDDEN);
      await second.stop();
      const args = [
        'serve',
        '--content-types',
        CONFORMANCE_SCHEMA,
        '--data',
        data,
        '--public',
        'nope.find,tag.fly',
      ];
      const third = await spawnVarve(args).exited;
      expect(third.code).toBe(1);
      expect(third.output.match(/--public \(VARVE_PUBLIC\)/g)).toHaveLength(2);
    },
  );

  test(
    'limits requests per address with --rate-limit',
    takesMinutes('tokens and limits over time'),
    async () => {
      const limited = await startServer({
        contentTypes: 'examples/restaurants',
        arguments: ['--rate-limit', '20', '--examples'],
      });
      onTestFinished(() => limited.dispose());
      const ask = createAsk(limited.url);
      const answers: Answer[] = [];
      for (let request = 0; request < 40; request += 1) answers.push(await ask('/api/cities'));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]?.body.error).toMatchObject({ status: 429, name: 'RateLimitError' });
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    },
  );

  test('lets pages of the origins in --cors call the server, never with credentials', async () => {
    const shared = await startServer({ arguments: ['--cors', 'https://example.org,http://localhost:3000'] });
    onTestFinished(() => shared.dispose());
    const ask = createAsk(shared.url);
    const allowed = await ask('/api/tags', { headers: { origin: 'https://example.org' } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://example.org');
    expect(allowed.headers.get('vary')?.toLowerCase()).toContain('origin');
    const preflight = await ask('/api/tags', {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:3000',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
    for (const origin of ['https://evil.example', 'https://example.org.evil.example', 'null']) {
      const { headers } = await ask('/api/tags', { headers: { origin } });
      expect(headers.get('access-control-allow-origin'), origin).toBeNull();
    }
    for (const { headers } of [allowed, preflight])
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    // Without the setting no origin is allowed.
    expect(
      (await asks.anonymous('/_health', { headers: { origin: 'https://example.org' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull();
  });
});
