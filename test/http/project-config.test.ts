import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createEvaluateModule } from '../../services/project/evaluate-project.ts';
import { readApiConfig } from '../../services/project/read-api-config.ts';
import { readCorsConfig } from '../../services/project/read-cors-config.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { startServer } from '../support/server.ts';
import { NOTE, strapiProject as project, projectFolder } from '../support/strapi-project.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

it("takes the project's rest settings, and serves its prefix as well as /api", async () => {
  const folder = project({
    'config/api.ts':
      "export default ({ env }: { env: any }) => ({ rest: { defaultLimit: env.int('LIMIT', 9), maxLimit: 3, prefix: '/content/v1' } });",
    '.env': 'LIMIT=2',
  });
  const server = await startServer({ contentTypes: folder });
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  for (const text of ['a', 'b', 'c', 'd'])
    await ask('/content/v1/notes', { method: 'POST', body: { data: { text } } });
  const page = await ask('/content/v1/notes?pLevel=4');
  expect([page.status, page.body.meta.pagination]).toMatchObject([200, { pageSize: 2, total: 4 }]);
  const cut = await ask('/Content/V1/notes?pagination[pageSize]=50');
  expect(cut.body.meta.pagination.pageSize).toBe(3);
  expect((await ask('/api/notes')).body).toEqual((await ask('/content/v1/notes')).body);
  expect((await ask('/content/v2/notes')).status).toBe(404);
});

it(
  'refuses unknown parameters, and wrong values of status and locale, each as the project says',
  takesMinutes('settings of a project in depth'),
  async () => {
    const statuses = [];
    for (const config of ['{ rest: { strictParams: true } }', '{ documents: { strictParams: true } }']) {
      const contentTypes = project({ 'config/api.js': `module.exports = ${config};` });
      const server = await startServer({ contentTypes });
      onTestFinished(() => server.dispose());
      const ask = createAsk(server.url);
      for (const query of ['pLevel=4', 'status=odd', 'locale=not_a_locale'])
        statuses.push((await ask(`/api/notes?${query}`)).status);
    }
    expect(statuses).toEqual([400, 200, 200, 200, 400, 400]);
  },
);

it(
  'requires required relations of a published entry, unless the project does not',
  takesMinutes('settings of a project in depth'),
  async () => {
    const hero = { type: 'media', required: true };
    const schema = JSON.stringify({ ...NOTE, attributes: { hero } });
    const at = 'src/api/note/content-types/note/schema.json';
    const strict = project({ [at]: schema });
    const lenient = project({
      [at]: schema,
      'config/api.js': 'module.exports = { rest: { strictParams: true } };',
    });
    const statuses = [];
    for (const contentTypes of [strict, lenient]) {
      const server = await startServer({ contentTypes });
      onTestFinished(() => server.dispose());
      statuses.push(
        (await createAsk(server.url)('/api/notes', { method: 'POST', body: { data: {} } })).status,
      );
    }
    expect(statuses).toEqual([400, 201]);
  },
);

it('prefers a setting over the project', takesMinutes('settings and projects'), async () => {
  const folder = project({ 'config/api.js': 'module.exports = { rest: { defaultLimit: 2 } };' });
  const given = ['--strict-params', 'true', '--default-limit', '7'];
  const server = await startServer({ contentTypes: join(folder, 'src'), arguments: given });
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  expect((await ask('/api/notes')).body.meta.pagination.pageSize).toBe(7);
  expect((await ask('/api/notes?pLevel=4')).status).toBe(400);
});

it(
  'hides the attributes that the project makes private, also when the rest of its configuration is wrong',
  takesMinutes('settings of a project in depth'),
  async () => {
    const names = "['secret', 'provider', 'createdAt', 'documentId', 7, 'nowhere']";
    const attributes = {
      text: { type: 'string' },
      secret: { type: 'string' },
      parts: { type: 'component', component: 'note.part', repeatable: true },
    };
    const folder = project({
      'config/api.js': `module.exports = { rest: { prefix: 7 }, responses: { privateAttributes: ${names} } };`,
      'src/api/note/content-types/note/schema.json': JSON.stringify({ ...NOTE, attributes }),
      'src/components/note/part.json': JSON.stringify({
        attributes: { name: { type: 'string' }, secret: { type: 'string' } },
      }),
    });
    const server = await startServer({ contentTypes: folder });
    onTestFinished(() => server.dispose());
    expect(server.output()).toContain('documentId is part of every answer and cannot be private');
    const ask = createAsk(server.url);
    const data = { text: 'a', secret: 'x', parts: [{ name: 'b', secret: 'y' }] };
    const created = await ask('/api/notes?populate=*', { method: 'POST', body: { data } });
    expect(created.status).toBe(201);
    const { body } = await ask('/api/notes?populate=*');
    expect(body.data).toMatchObject([{ text: 'a', parts: [{ name: 'b' }] }]);
    expect(JSON.stringify([created.body, body])).not.toMatch(/secret|createdAt/);
    for (const path of [
      '/api/notes?filters[secret]=x',
      '/api/notes?filters[parts][secret]=y',
      '/api/users?fields=provider',
      '/api/users?sort=createdAt',
      '/api/notes?filters[createdAt][$null]=true',
    ]) {
      const [name = ''] = /secret|provider|createdAt/.exec(path) ?? [];
      const [answer, unknown] = [await ask(path), await ask(path.replace(name, 'unknown'))];
      expect(answer.status, path).toBe(400);
      expect(answer.body.error.message).toBe(unknown.body.error.message.replace('unknown', name));
    }
  },
);

it.each([
  ['strictParams', { rest: { strictParams: true } }, { strictParams: true }],
  ['strictParams of documents', { documents: { strictParams: true } }, { strictDocuments: true }],
  ['strictRelations', { documents: { strictRelations: true } }, { strictRelations: true }],
  ['a largest page that is text', { rest: { maxLimit: '50' } }, { maxLimit: 50 }],
  ['a default page that is text', { rest: { defaultLimit: '50' } }, { defaultLimit: 50 }],
  ['all entries by default', { rest: { defaultLimit: -1 } }, { defaultLimit: Number.POSITIVE_INFINITY }],
  ['no totals', { rest: { withCount: false } }, { withCount: false }],
  ['no totals from nothing', { rest: { withCount: null } }, { withCount: false }],
  ['totals from any text', { rest: { withCount: 'false' } }, { withCount: true }],
  ['a prefix with a slash at its end', { rest: { prefix: '/v1/' } }, { prefix: '/v1' }],
  ['no prefix', { rest: { prefix: '' } }, { prefix: '' }],
  ['no prefix from a slash', { rest: { prefix: '/' } }, { prefix: '' }],
  [
    'nothing',
    {},
    {
      strictParams: false,
      strictDocuments: false,
      strictRelations: false,
      defaultLimit: 25,
      maxLimit: Number.POSITIVE_INFINITY,
      withCount: true,
      prefix: '/api',
      privateAttributes: [],
    },
  ],
])('reads %s', (_, config, wanted) => {
  const found = readApiConfig(project({ 'config/api.json': JSON.stringify(config) }));
  expect(found).toMatchObject(wanted);
  expect(found).not.toHaveProperty('failure');
});

it.each([null, 0, -1, 'none', {}])('reads the largest page %j as no limit', (maxLimit) => {
  const file = { 'config/api.json': JSON.stringify({ rest: { maxLimit } }) };
  expect(readApiConfig(project(file))).toMatchObject({ maxLimit: Number.POSITIVE_INFINITY });
});

it('names each member that cannot be read, and keeps the others', () => {
  const rest = "{ strictParams: true, maxLimit: 7, withCount: false, defaultLimit: 0, prefix: 'api' }";
  const config = readApiConfig(project({ 'config/api.js': `module.exports = { rest: ${rest} };` }));
  expect(config).toMatchObject({ strictParams: true, maxLimit: 7, withCount: false });
  expect(config).toMatchObject({ defaultLimit: 25, prefix: '/api' });
  expect(config?.failure).toBe(
    'rest.defaultLimit: must be a whole number from 1, or -1; rest.prefix: must be a path such as /api',
  );
});

it('serves lists without totals and with long pages, and paths without a prefix, as the project says', async () => {
  const rest = "{ withCount: false, prefix: '', defaultLimit: 101 }";
  const server = await startServer({
    contentTypes: project({ 'config/api.js': `module.exports = { rest: ${rest} };` }),
  });
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  await ask('/notes', { method: 'POST', body: { data: { text: 'a' } } });
  const paginationOf = async (path: string) => (await ask(path)).body.meta.pagination;
  expect(await paginationOf('/notes')).toEqual({ page: 1, pageSize: 101 });
  expect(await paginationOf('/notes?pagination[pageSize]=500')).toEqual({ page: 1, pageSize: 500 });
  expect(await paginationOf('/api/notes?pagination[withCount]=true')).toMatchObject({ total: 1 });
  for (const path of ['/health/ready', '/docs', '/openapi.json', '/_health', '/uploads/none.png'])
    expect((await fetch(`${server.url}${path}`)).status, path).toBe(
      path.startsWith('/uploads') ? 404 : path === '/_health' ? 204 : 200,
    );
});

it.each([
  ['a configuration', { 'config/server.js': 'module.exports = {};' }],
  ['the dependency', { 'package.json': '{ "dependencies": { "@strapi/strapi": "5.30.0" } }' }],
])("has Strapi's defaults in a project with %s and without config/api", async (_, files) => {
  const folder = project(files);
  for (const at of [folder, join(folder, 'src')])
    expect(readApiConfig(at)).toMatchObject({
      strictParams: false,
      defaultLimit: 25,
      maxLimit: Number.POSITIVE_INFINITY,
      prefix: '/api',
    });
});

it(
  'answers all entries without a limit if the project says so, as Strapi does',
  takesMinutes('settings of a project in depth'),
  async () => {
    const paginations = async (rest: string) => {
      const server = await startServer({
        contentTypes: project({ 'config/api.js': `module.exports = { rest: ${rest} };` }),
      });
      onTestFinished(() => server.dispose());
      const ask = createAsk(server.url);
      for (const text of ['a', 'b', 'c'])
        await ask('/api/notes', { method: 'POST', body: { data: { text } } });
      const found = [];
      for (const query of [
        ...['', 'pagination[withCount]=false', 'pagination[page]=2', 'pagination[start]=1'],
        ...['pagination[pageSize]=2', 'pagination[limit]=2'],
      ]) {
        const { body } = await ask(`/api/notes?${query}`);
        found.push([body.data.length, body.meta.pagination]);
      }
      return found;
    };
    const all = { page: 1, pageSize: -1, pageCount: 0, total: 3 };
    const given = [
      [2, { page: 1, pageSize: 2, pageCount: 2, total: 3 }],
      [2, { start: 0, limit: 2, total: 3 }],
    ];
    expect(await paginations('{ defaultLimit: -1 }')).toEqual([
      [3, all],
      [3, { page: 1, pageSize: -1 }],
      [3, all],
      [2, { start: 1, limit: -1, total: 3 }],
      ...given,
    ]);
    expect(await paginations('{ defaultLimit: -1, maxLimit: 2 }')).toEqual([
      [3, all],
      [3, { page: 1, pageSize: -1 }],
      [1, { page: 2, pageSize: 2, pageCount: 2, total: 3 }],
      [2, { start: 1, limit: 2, total: 3 }],
      ...given,
    ]);
  },
);

it('evaluates TypeScript that imports its neighbours, and has the names of CommonJS', () => {
  const folder = project({
    'config/api.ts':
      "import type { Core } from '@strapi/strapi';\nimport path from 'path';\nimport limits, { prefix } from './shared/limits';\nimport { hidden } from './hidden.js';\nimport texts from './texts.json';\nimport { parts } from '../parts';\nconst config: unknown = ({ env }) => ({ rest: { ...limits, prefix, ...parts }, responses: { privateAttributes: [hidden, texts.name, path.basename(path.join(__dirname, '..')), require('./more').name] } });\nexport default config;",
    'config/shared/limits.ts':
      "import { seven } from './seven';\nexport const prefix = '/v7';\nexport default { maxLimit: seven as number };",
    'config/shared/seven.ts': 'export const seven: number = 7;',
    'config/hidden.ts': "export const hidden = 'one';",
    'config/texts.json': '{ "name": "two" }',
    'config/more.js': "exports.name = 'three';",
    'parts/index.ts': 'export const parts = { strictParams: true };',
  });
  const config = readApiConfig(folder);
  expect(config).not.toHaveProperty('failure');
  expect(config).toMatchObject({ maxLimit: 7, prefix: '/v7', strictParams: true });
  expect(config?.privateAttributes).toEqual(['one', 'two', folder.split('/').at(-1), 'three']);
});

it('evaluates TypeScript that imports types of a package that is not installed', () => {
  const folder = project({
    'config/api.ts':
      "import nothing, { factories, type Core } from '@strapi/strapi';\nimport { Schema as S } from '@strapi/types/dist';\nconst config: S = { rest: { maxLimit: 7 } };\nexport default config;",
    'config/middlewares.ts':
      "import { cors } from 'nonsense';\nexport default [{ name: 'strapi::cors', config: { origin: cors.origins } }];",
  });
  expect(readApiConfig(folder)).not.toHaveProperty('failure');
  expect(readApiConfig(folder)).toMatchObject({ maxLimit: 7 });
  expect(readCorsConfig(folder)?.failure).toContain("Cannot find package 'nonsense'");
});

it('names the import of a configuration that does not exist', () => {
  const config = readApiConfig(
    project({ 'config/api.ts': "import { x } from './nowhere';\nexport default { x };" }),
  );
  expect(config?.failure).toContain('nowhere');
});

it('names the project below a repository', async () => {
  const schema = JSON.stringify(NOTE);
  const repository = projectFolder({
    'package.json': '{ "name": "site" }',
    'apps/cms/src/api/note/content-types/note/schema.json': schema,
    'node_modules/cms/src/api/note/content-types/note/schema.json': schema,
  });
  onTestFinished(() => rmSync(repository, { recursive: true }));
  const data = join(repository, 'data');
  const { code, stderr } = await runVarve(['serve', '--content-types', repository, '--data', data]);
  expect(code).toBe(1);
  const cms = join(repository, 'apps/cms');
  expect(stderr).toContain(
    `${repository} is not a Strapi project, but contains ${cms}: pass --content-types ${cms}`,
  );
});

it('refuses a configuration that cannot be read and makes attributes private', () => {
  const config = (text: string) => () =>
    readApiConfig(project({ 'config/api.js': `require('nonsense'); module.exports = ${text};` }));
  expect(config("{ responses: { privateAttributes: ['secret'] } }")).toThrow(
    /makes attributes private, and cannot be read: .*nonsense/,
  );
  expect(config('{}')()).toMatchObject({ failure: expect.stringContaining('nonsense') });
});

it('reads nothing without a project', () => {
  expect(readApiConfig(project({}))).toBeUndefined();
  expect(readApiConfig('test/conformance/schema')).toBeUndefined();
});

it(
  'says why a configuration cannot be read, and uses the defaults of Strapi',
  takesMinutes('configurations that cannot be read'),
  async () => {
    const folder = project({ 'config/api.js': "module.exports = require('nonsense');" });
    const server = await startServer({ contentTypes: folder });
    onTestFinished(() => server.dispose());
    expect(server.output()).toContain("a part of the project's configuration cannot be read");
    expect(server.output()).toContain('nonsense');
    expect((await createAsk(server.url)('/api/notes?pLevel=4')).status).toBe(200);
  },
);

it('evaluates code without rights, without the environment of the server, and within a time limit', () => {
  const outside = join(project({}), 'secret.json');
  writeFileSync(outside, '1');
  const folder = project({
    'env.js': 'module.exports = { path: process.env.PATH ?? null, own: process.env.OWN };',
    '.env': 'OWN=mine',
    'read.js': `module.exports = require('fs').readFileSync(${JSON.stringify(outside)}, 'utf8');`,
    'write.js': "require('fs').writeFileSync('written', 'x'); module.exports = 1;",
    'spawn.js': "require('child_process').execSync('true'); module.exports = 1;",
    'slow.js': 'for (;;) {}',
    'function.mjs':
      "export default ({ env }) => ({ list: env.array('LIST', ['a']), on: env.bool('ON', true) });",
    'broken.json': '{',
  });
  const of = (file: string, limitMs?: number) => createEvaluateModule(folder, limitMs)(join(folder, file));
  expect(of('env.js')).toEqual({ kind: 'value', value: { path: null, own: 'mine' } });
  expect(of('function.mjs')).toEqual({ kind: 'value', value: { list: ['a'], on: true } });
  for (const file of ['read.js', 'write.js', 'spawn.js'])
    expect(of(file), file).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('Access to this API has been restricted'),
    });
  expect(of('slow.js', 500)).toEqual({ kind: 'failed', reason: 'it takes longer than 500 ms' });
  expect(of('broken.json')).toMatchObject({ kind: 'failed' });
});

it(
  'reads four megabytes of a module, and gives up on one that has more',
  takesMinutes('settings of a project in depth'),
  () => {
    const file = (bytes: number) => `module.exports = 'x'.repeat(${bytes});`;
    const limit = 4 * 1024 * 1024;
    const folder = project({ 'most.js': file(limit - 100), 'more.js': file(limit) });
    const evaluate = createEvaluateModule(folder);
    expect(evaluate(join(folder, 'most.js'))).toMatchObject({ kind: 'value' });
    expect(evaluate(join(folder, 'more.js'))).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('ENOBUFS'),
    });
  },
);

it('gives up on a module after five seconds', takesMinutes('modules that take long'), () => {
  const folder = project({ 'slow.js': 'for (;;) {}' });
  const slow = createEvaluateModule(folder)(join(folder, 'slow.js'));
  expect(slow).toEqual({ kind: 'failed', reason: 'it takes longer than 5000 ms' });
});

it('serves a content type whose schema is code, and refuses one that cannot be evaluated', async () => {
  const tag =
    "{ info: { singularName: 'tag', pluralName: 'tags' }, attributes: { name: { type: 'string' } } }";
  const file = 'src/api/tag/content-types/tag/schema.js';
  const server = await startServer({ contentTypes: project({ [file]: `module.exports = ${tag};` }) });
  onTestFinished(() => server.dispose());
  expect((await createAsk(server.url)('/api/tags')).status).toBe(200);
  const broken = project({ [file]: 'throw new Error("no schema here")' });
  const { code, stderr } = await runVarve(['serve', '--content-types', broken, '--data', server.data]);
  expect(code).toBe(1);
  expect(stderr).toContain('it cannot be evaluated: Error: no schema here');
});

const corsOf = async (url: string, origin: string) =>
  (await fetch(`${url}/api/notes`, { headers: { origin } })).headers.get('access-control-allow-origin');

it("allows the pages that the project's middlewares list, and says so", async () => {
  const folder = project({
    'config/middlewares.ts':
      "export default ({ env }: { env: any }) => ['strapi::errors', { name: 'strapi::cors', config: { origin: [env('SITE'), 'http://localhost:3000', 'no origin'] } }];",
    '.env': 'SITE=https://example.org',
  });
  const server = await startServer({ contentTypes: folder });
  onTestFinished(() => server.dispose());
  expect(await corsOf(server.url, 'https://example.org')).toBe('https://example.org');
  expect(await corsOf(server.url, 'http://localhost:3000')).toBe('http://localhost:3000');
  expect(await corsOf(server.url, 'https://other.example')).toBeNull();
  expect(server.output()).toMatch(
    /Pages of https:\/\/example\.org, http:\/\/localhost:3000 may call .*config\/middlewares\.ts/,
  );
  expect(server.output()).toContain('"origin":"no origin"');
});

it.each([
  ['lists none, which is every origin in Strapi', "['strapi::cors']", []],
  ['is not one', "['strapi::errors']", ['--cors', '']],
])(
  'allows no page if the project %s, and names the option',
  takesMinutes('origins of projects'),
  async (_, middlewares, given) => {
    const folder = project({ 'config/middlewares.js': `module.exports = ${middlewares};` });
    const server = await startServer({ contentTypes: folder, arguments: given });
    onTestFinished(() => server.dispose());
    expect(await corsOf(server.url, 'https://example.org')).toBeNull();
    expect(server.output()).toContain(
      'Pages of other origins may not call it from a browser: list those that may with --cors',
    );
  },
);

it(
  'prefers --cors over the project, and says why its middlewares cannot be read',
  takesMinutes('origins of projects'),
  async () => {
    const folder = project({ 'config/middlewares.js': "module.exports = require('nonsense');" });
    expect(readCorsConfig(folder)).toMatchObject({
      origins: undefined,
      failure: expect.stringContaining('nonsense'),
    });
    const listed = project({
      'config/middlewares.js': "module.exports = [{ name: 'strapi::cors', config: { origin: '*' } }];",
    });
    expect(readCorsConfig(join(listed, 'src'))).toMatchObject({ origins: ['*'] });
    const server = await startServer({ contentTypes: listed, arguments: ['--cors', 'https://example.org'] });
    onTestFinished(() => server.dispose());
    expect(await corsOf(server.url, 'https://other.example')).toBeNull();
    expect(await corsOf(server.url, 'https://example.org')).toBe('https://example.org');
  },
);
