import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findOwnCode } from '../../services/project/own-code.ts';
import { strapiProject } from '../support/strapi-project.ts';

const codeOf = (files: { readonly [file: string]: string }) =>
  findOwnCode(join(strapiProject(files), 'src'), ({ path }) => /^\/notes(\/:id)?$/.test(path));
const kindsOf = (files: { readonly [file: string]: string }) =>
  Object.fromEntries(codeOf(files).kinds.map(({ kind, files: found }) => [kind, found]));

const FACTORIES = "const { factories } = require('@strapi/strapi');\n";
const NOTHING = {
  'src/api/note/controllers/note.ts':
    "/** async note => controller */\nimport { factories } from '@strapi/strapi';\nexport default factories.createCoreController('api::note.note' as any);",
  'src/api/note/services/note.js': `${FACTORIES}module.exports = factories.createCoreService('api::note.note');`,
  'src/api/note/routes/note.js': `${FACTORIES}module.exports = factories.createCoreRouter('api::note.note');`,
  'src/api/note/routes/old.js':
    "module.exports = { routes: [{ method: 'GET', path: '/notes', handler: 'note.find' }, { method: 'PUT', path: '/notes/:id', handler: 'note.update' }] };",
  'src/index.ts': 'export default { register(/* { strapi } */) {}, bootstrap() {} };',
};

it('finds nothing in the code that Strapi makes', () => {
  expect(codeOf(NOTHING)).toEqual({ kinds: [], routes: [], populates: [] });
});

it('finds each kind of code that changes what Strapi answers', () => {
  const found = kindsOf({
    ...NOTHING,
    'src/api/note/routes/01-custom.ts':
      "export default { routes: [ { handler: 'note.search', config: { auth: false, policies: [] }, 'path': `/notes/search`, method: \"GET\" }, // { method: 'GET', path: '/gone' }\n { method: 'POST', path: '/notes/:id/like', handler: 'note.like' } ] };",
    'src/api/note/controllers/note.ts':
      "export default factories.createCoreController('api::note.note', ({ strapi }) => ({ async find(ctx) { return super.find(ctx); } }));",
    'src/api/note/services/note.js':
      "module.exports = createCoreService('api::note.note', () => ({ count: () => 1 }));",
    'src/api/note/controllers/other.js': 'module.exports = { hello: async (ctx) => { ctx.body = 1; } };',
    'src/api/note/content-types/note/lifecycles.js':
      'module.exports = { beforeCreate(event) { event.params.data.text = 1; } };',
    'src/index.ts': 'export default { bootstrap({ strapi }) { strapi.db.lifecycles.subscribe({}); } };',
    'src/middlewares/pop.js':
      "module.exports = () => (ctx, next) => { ctx.query.populate = '*'; return next(); };",
  });
  expect(found).toEqual({
    'custom routes': ['api/note/routes/01-custom.ts'],
    'overridden controllers': ['api/note/controllers/note.ts', 'api/note/controllers/other.js'],
    'overridden services': ['api/note/services/note.js'],
    lifecycles: ['api/note/content-types/note/lifecycles.js', 'index.ts'],
    'populate in middlewares': ['middlewares/pop.js'],
  });
});

it('finds the paths of routes', () => {
  const { routes } = codeOf({
    'src/api/note/routes/custom.js':
      "module.exports = { routes: [ { method: 'GET', path: '/notes/search', handler: 'a', config: { middlewares: [{ name: 'x', config: { path: '/no' } }] } }, { method: 'GET', path: '/notes/:slug', handler: 'b' }, { path: '/nothing' } ] };",
  });
  expect(routes.map(({ path }) => path)).toEqual(['/notes/search', '/notes/:slug']);
});

const route = (path: string, config = '') => `{ method: 'GET', path: '${path}', handler: 'x'${config} }`;

it('finds the routes of own plugins and of extensions, with the prefix that Strapi gives them', () => {
  const { routes, kinds } = codeOf({
    'src/plugins/shop/package.json': JSON.stringify({ strapi: { name: 'my-shop' } }),
    'src/plugins/shop/server/src/routes/index.ts':
      "export default { 'content-api': { type: 'content-api', routes: [...contentApi] }, admin: { type: 'admin', routes: admin } };",
    'src/plugins/shop/server/src/routes/content-api/index.ts': `export default [${route('/carts/:id')}, ${route('/open', ", config: { prefix: '' }")}];`,
    'src/plugins/shop/server/src/routes/admin/index.ts': `export default [${route('/settings')}];`,
    'src/plugins/shop/server/dist/index.js': `module.exports = { type: 'content-api', routes: [${route('/built')}] };`,
    'src/plugins/shop/server/src/services/pay.ts':
      "export default () => ({ pay: () => fetch({ method: 'POST', path: '/charges' }) });",
    'src/plugins/old/strapi-server.js': `module.exports = { routes: { 'content-api': { type: 'content-api', routes: [${route('/a')}] }, admin: { type: 'admin', routes: [${route('/b')}] } } };`,
    'src/plugins/panel/server/routes/index.js': `module.exports = [${route('/settings')}];`,
    'src/plugins/flat/server/routes/index.js':
      "module.exports = { api: { type: 'content-api', prefix: '/f', routes } };",
    'src/plugins/flat/server/routes/list.js': `module.exports = [${route('/c')}];`,
    'src/extensions/users-permissions/strapi-server.js': `module.exports = (plugin) => {
      plugin.controllers.user.me = async (ctx) => {};
      plugin.routes['content-api'].routes.push(${route('/users/me/cards', ", config: { prefix: '' }")});
      plugin.routes.admin.routes.push(${route('/panel')});
      plugin.routes["content-api"].routes.unshift(${route('/roles/:id')});
      return plugin; };`,
    'src/index.ts': `export default { register({ strapi }) { strapi.server.routes([${route('/api/ping')}, ${route('/pong')}]); } };`,
  });
  expect(routes.map(({ path }) => path)).toEqual([
    ...['/ping', '/flat/c', '/old/a', '/my-shop/carts/:id', '/open'],
    ...['/users/me/cards', '/users-permissions/roles/:id'],
  ]);
  expect(kinds).toMatchObject([
    { kind: 'custom routes' },
    { kind: 'overridden controllers', files: ['extensions/users-permissions/strapi-server.js'] },
  ]);
});

const ROUTER =
  "module.exports = createCoreRouter('api::note.note', { config: { find: { middlewares: ['api::note.pop'] }, findOne: { auth: false, middlewares: [\"api::note.pop\"] }, create: { middlewares: ['api::note.other'] } } });";

it.each([
  [
    'a constant',
    "const populate = { image: { fields: ['url', 'alt'] }, 'blocks': { on: { \"a.b\": true, }, }, n: 1 };\nmodule.exports = () => (ctx, next) => { ctx.query.populate = populate; return next(); };",
    { image: { fields: ['url', 'alt'] }, blocks: { on: { 'a.b': true } }, n: 1 },
  ],
  [
    'an object in place',
    'module.exports = () => async (ctx, next) => { ctx.query.populate = { a: { populate: "*" } }; await next(); };',
    { a: { populate: '*' } },
  ],
  [
    'a list',
    "module.exports = () => (ctx, next) => { ctx.query.populate = ['a', 'b.c']; return next(); };",
    ['a', 'b.c'],
  ],
  [
    'a text',
    "module.exports = () => (ctx, next) => { ctx.query.populate = 'deep'; return next(); };",
    'deep',
  ],
  [
    'a typed constant',
    'const populate: any = { a: true }; export default () => (ctx, next) => { ctx.query.populate = populate\n return next(); };',
    { a: true },
  ],
])('reads the populate of a middleware that is %s', (_, code, populate) => {
  const { populates } = codeOf({
    'src/api/note/middlewares/pop.ts': code,
    'src/api/note/routes/note.ts': ROUTER,
  });
  expect(populates).toEqual([
    {
      file: 'api/note/middlewares/pop.ts',
      type: 'api::note.note',
      defaultPopulate: { find: populate, findOne: populate },
    },
  ]);
});

it.each([
  ['a function', 'ctx.query.populate = { a: make() };'],
  ['a spread', 'ctx.query.populate = { ...other };'],
  ['a condition', "ctx.query.populate = ctx.query.x ? 'a' : 'b';"],
  ['an open object', 'ctx.query.populate = { a: '],
  ['a member', 'const populate = { populate: { a: true } }; ctx.query.populate = populate.populate;'],
  ['two constants', "if (ctx.query.x) ctx.query.populate = ['a']; else ctx.query.populate = ['b'];"],
])('does not guess the populate of %s', (_, line) => {
  const { populates, kinds } = codeOf({
    'src/api/note/middlewares/pop.ts': `export default () => (ctx, next) => { ${line} return next(); };`,
    'src/api/note/routes/note.ts': ROUTER,
  });
  expect(populates).toEqual([]);
  expect(kinds.map(({ kind }) => kind)).toEqual(['populate in middlewares']);
});
