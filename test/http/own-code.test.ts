import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { NOTE, projectFolder } from '../support/strapi-project.ts';

/** A project with code that Varve does not run. */
const route = (method: string, path: string) => `{ method: '${method}', path: '${path}', handler: 'x' }`;
const project = projectFolder({
  'config/api.js': 'module.exports = {};',
  'config/database.ts':
    "import path from 'path';\nexport default ({ env }) => { const client = env('DATABASE_CLIENT', 'sqlite'); return { connection: { client, connection: { filename: path.join(__dirname, '..', '.tmp/data.db') } } }; };",
  'src/api/note/content-types/note/schema.json': JSON.stringify(NOTE),
  'src/api/note/routes/custom.js': `module.exports = { routes: [${[
    route('GET', '/notes/search'),
    route('POST', '/notes/:id/like'),
    route('GET', '/notes/:slug'),
    route('GET', '/notes/by/:slug(.*)'),
    route('GET', '/notes/page/:number(\\\\d+)/:size?'),
    route('PATCH', '/notes/:id'),
    route('GET', '/files/(.*)'),
    route('GET', '/tags/:first+/all'),
    route('GET', '/day-:day'),
    route('GET', '/feeds/:from-:to.xml'),
    "{ method: 'GET', path: '/feed', handler: 'x', config: { prefix: '/public' } }",
    route('POST', '/newsletter'),
    route('GET', '/users/me'),
  ].join()}] };`,
  'src/plugins/shop/package.json': JSON.stringify({ strapi: { name: 'my-shop' } }),
  'src/plugins/shop/server/src/routes/content-api.ts': `export default { type: 'content-api', routes: [${route('GET', '/carts/:id')}, ${route('GET', '/')}] };`,
  'src/extensions/upload/strapi-server.js': `module.exports = (plugin) => { plugin.routes['content-api'].routes.push(${route('GET', '/sizes/:id')}); return plugin; };`,
  'src/api/note/routes/note.js':
    "module.exports = createCoreRouter('api::note.note', { config: { find: { middlewares: ['api::note.pop'] } } });",
  'src/api/note/middlewares/pop.js':
    'module.exports = () => (ctx, next) => { ctx.query.populate = { image: true }; return next(); };',
});
let server: RunningServer;
let ask: Ask;

beforeAll(async () => {
  server = await startServer({ contentTypes: project });
  ask = createAsk(server.url);
});
afterAll(async () => {
  await server.dispose();
  rmSync(project, { recursive: true });
});

it.each([
  ['GET', '/api/notes/search'],
  ['GET', '/api/notes/search?q=1'],
  ['POST', '/api/notes/search'],
  ['POST', '/api/notes/abc/like'],
  ['GET', '/api/notes/by/some-slug'],
  ['GET', '/api/notes/by/some/slug'],
  ['GET', '/api/notes/page/2'],
  ['GET', '/api/notes/page/2/50'],
  ['PATCH', '/api/notes/some-id'],
  ['GET', '/api/notes/some-slug'],
  ['GET', '/api/files/a/b/c.png'],
  ['GET', '/api/Tags/a/b/all/'],
  ['GET', '/api/day-7'],
  ['GET', '/api/feeds/1-2.xml'],
  ['GET', '/api/public/feed'],
  ['GET', '/api/my-shop'],
  ['GET', '/api/my-shop/carts/7'],
  ['GET', '/api/upload/sizes/7'],
  ['POST', '/api/newsletter'],
  ['DELETE', '/api/newsletter'],
] as const)('answers %s %s with the reason', async (method, path) => {
  const { status, body } = await ask(path, { method, ...(method === 'POST' && { body: { data: {} } }) });
  expect([status, body]).toMatchObject([
    404,
    {
      data: null,
      error: {
        ...{ status: 404, name: 'NotFoundError', code: 'project-code' },
        message: expect.stringMatching(
          /^\/.* is a route of the project's own code in src\/(api\/note\/routes\/custom|plugins\/shop|extensions\/upload)/,
        ),
      },
    },
  ]);
});

it('serves its own paths as before', async () => {
  const created = await ask('/api/notes', { method: 'POST', body: { data: { text: 'a' } } });
  expect(created.status).toBe(201);
  expect((await ask(`/api/notes/${created.body.data.documentId}`)).body.data.text).toBe('a');
  const missing = await ask('/api/notes/other', { method: 'DELETE' });
  expect([missing.status, missing.body]).toEqual([204, '']);
  const update = { method: 'PUT', body: { data: {} } };
  for (const path of [
    '/api/notes/other',
    '/api/notes/by',
    '/api/notes/page',
    '/api/feeds/a/b',
    '/api/day-',
    '/api/feed',
  ])
    expect((await ask(path, update)).body.error?.code, path).not.toBe('project-code');
  for (const path of ['/api/carts/7', '/api/shop/carts/7', '/api/files-a', '/api/feed', '/my-shop/carts/7'])
    expect((await ask(path)).body.error, path).toMatchObject({ status: 404, message: 'Not Found' });
  expect((await ask('/api/users/me')).body.error.code).not.toBe('project-code');
  expect((await fetch(`${server.url}/api/nothing`, { method: 'POST' })).status).toBe(405);
});

it.each(['/api/auth/local', '/api/auth/local/register', '/api/auth/github/callback', '/api/connect/github'])(
  'names the option for %s without a login',
  async (path) => {
    for (const method of ['GET', 'POST'] as const) {
      const { status, body } = await ask(path, { method, ...(method === 'POST' && { body: {} }) });
      expect([status, body.error]).toMatchObject([
        501,
        {
          ...{ status: 501, name: 'NotImplementedError', code: 'login-not-served' },
          message: expect.stringContaining('--login'),
        },
      ]);
    }
  },
);

it('says at the start and in the status what it does not do, one line for each kind', async () => {
  const lines = [
    'custom routes in src/api/note/routes/custom.js and 2 more files: their paths answer 404',
    'populate in middlewares in src/api/note/middlewares/pop.js: ',
    'instead of src/api/note/middlewares/pop.js, paste into the schema.json of api::note.note: "pluginOptions":{"varve":{"defaultPopulate":{"find":{"image":true}}}}',
  ];
  const { stdout } = await runVarve(['status', '--data', server.data]);
  const { codeNotes } = await jsonOf<{ codeNotes: string[] }>(['status', '--json', '--data', server.data]);
  expect(codeNotes).toHaveLength(3);
  for (const [at, line] of lines.entries()) {
    expect(server.output()).toContain(`\n  ${line}`);
    expect(stdout).toContain(`\n  ${line}`);
    expect(codeNotes[at]).toContain(line);
  }
  expect(server.output()).toContain(
    'config/database says sqlite, where $contains, $startsWith and $endsWith ignore case: here they compare case: --contains case-insensitive changes that',
  );
  expect(server.output()).toContain('nobody can sign in (/api/auth): --login turns that on');
});
