import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A project with which Strapi starts. Users have more attributes, one attribute is named `status`, and Varve cannot serve some. */
const project = mkdtempSync(join(tmpdir(), 'varve-project-'));
const user = 'plugin::users-permissions.user';
const FILES = {
  'api/post/content-types/post/schema.json': {
    info: { singularName: 'post', pluralName: 'posts', displayName: 'Post' },
    attributes: {
      title: { type: 'string' },
      status: { type: 'enumeration', enum: ['open', 'closed'], default: 'gone' },
      stars: { type: 'customField', customField: 'plugin::rating.stars' },
      moreStars: { type: 'customField', customField: 'plugin::rating.stars' },
      tags: { type: 'customField', customField: 'plugin::string-array.input' },
      body: { type: 'customField', customField: 'plugin::ckeditor5.CKEditor' },
      order: { type: 'relation', relation: 'oneToOne', target: 'plugin::shop.order' },
      author: { type: 'relation', relation: 'manyToOne', target: user, inversedBy: 'posts' },
    },
  },
  'extensions/users-permissions/content-types/user/schema.json': {
    info: { singularName: 'user', pluralName: 'users' },
    attributes: {
      nickname: { type: 'string' },
      taxNumber: { type: 'string', private: true },
      posts: { type: 'relation', relation: 'oneToMany', target: 'api::post.post', mappedBy: 'author' },
    },
  },
};

let server: RunningServer;
let ask: Ask;

function writeProject(files: { readonly [file: string]: unknown }): void {
  for (const [file, json] of Object.entries(files)) {
    mkdirSync(join(project, dirname(file)), { recursive: true });
    writeFileSync(join(project, file), JSON.stringify(json));
  }
}

beforeAll(async () => {
  writeProject(FILES);
  server = await startServer({ contentTypes: project });
  ask = createAsk(server.url);
});
afterAll(async () => {
  await server.dispose();
  rmSync(project, { recursive: true });
});

it('names each attribute that it does not serve once, and lists it in the status', async () => {
  const left = ['$.attributes.order.target', '$.attributes.stars.customField', '$.attributes.status.default'];
  for (const path of left) expect(server.output().split(`"path":"${path}"`), path).toHaveLength(2);
  expect(server.output()).not.toContain('$.attributes.moreStars.customField');
  expect(server.output()).toContain('--custom-field plugin::rating.stars=<type>');
  const { schemaWarnings } = await jsonOf<{ schemaWarnings: { path: string; action: string }[] }>([
    ...['status', '--json', '--data', server.data],
  ]);
  expect(schemaWarnings.map(({ path }) => path)).toEqual(left);
  const { stdout } = await runVarve(['status', '--data', server.data]);
  expect(stdout).toContain('Parts of schemas that are not served as they are:');
  expect(stdout).toContain('content type plugin::shop.order is not defined (left out)');
});

it('answers each value of an unknown custom field as it came', async () => {
  const values = ['plain', '', '{"a": 1}', '"quoted"', '[1, 2', 'null', { a: [1] }, [1, '2'], 5, true, null];
  const written = [];
  for (const moreStars of values) {
    const data = { title: 'value', moreStars, tags: '["a", "b"]' };
    const created = await ask('/api/posts', { method: 'POST', body: { data } });
    const { documentId } = created.body.data;
    await ask(`/api/posts/${documentId}`, { method: 'PUT', body: { data: { title: 'again' } } });
    const { body } = await ask(`/api/posts/${documentId}`);
    expect(body.data).toMatchObject({ title: 'again', tags: '["a", "b"]' });
    written.push(body.data.moreStars);
    await ask(`/api/posts/${documentId}`, { method: 'DELETE' });
  }
  expect(written).toEqual(values);
});

it('serves an attribute called status, and a custom field that it does not know as JSON', async () => {
  const body = { data: { title: 'One', status: 'open', stars: { of: 5 }, body: '<p>' } };
  expect((await ask('/api/posts', { method: 'POST', body })).status).toBe(201);
  await ask('/api/posts', { method: 'POST', body: { data: { title: 'Two', status: 'closed' } } });
  const found = await ask('/api/posts?filters[status]=open&status=published&fields=status,stars');
  expect(found.body.data).toMatchObject([{ status: 'open', stars: { of: 5 } }]);
  const withStars = await ask('/api/posts?filters[stars][$notNull]=true&fields=title');
  expect(withStars.body.data).toMatchObject([{ title: 'One' }]);
  const left = await ask('/api/posts?filters[order][id]=1');
  const unknown = await ask('/api/posts?filters[nonsense][id]=1');
  expect([left.status, unknown.status]).toEqual([400, 400]);
  expect(JSON.stringify(left.body).replaceAll('order', 'nonsense')).toBe(JSON.stringify(unknown.body));
});

it('serves attributes that a project adds to users, and hides private ones', async () => {
  const ada = { username: 'ada', email: 'ada@example.org', password: 'secret1', role: 1 };
  const made = await ask('/api/users', {
    method: 'POST',
    body: { ...ada, nickname: 'A', taxNumber: '7' },
  });
  expect(made.status).toBe(201);
  const post = await ask('/api/posts?fields=documentId&filters[title]=One');
  const [{ documentId }] = post.body.data;
  const { body } = await ask('/api/users?fields=id');
  const author = body[0].documentId;
  await ask(`/api/posts/${documentId}`, { method: 'PUT', body: { data: { author } } });
  const users = await ask('/api/users?filters[nickname]=A&populate=posts');
  expect(users.body).toMatchObject([{ username: 'ada', nickname: 'A', posts: [{ title: 'One' }] }]);
  expect(JSON.stringify(users.body)).not.toContain('taxNumber');
  expect((await ask('/api/users?filters[taxNumber]=7')).status).toBe(400);
  const posts = await ask('/api/posts?filters[author][nickname]=A');
  expect(posts.body.data).toMatchObject([{ title: 'One' }]);
});

it(
  'refuses to start with strict schemas, and with a custom field of no known type',
  takesMinutes('strict schemas'),
  async () => {
    const serve = ['serve', '--content-types', project, '--data', server.data];
    const strict = await runVarve([...serve, '--strict-schemas']);
    expect(strict.code).toBe(1);
    expect(strict.stderr).toContain('content type plugin::shop.order is not defined');
    const wrong = await runVarve([...serve, '--custom-field', 'plugin::rating.stars=number']);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('has "plugin::rating.stars=number": expected <custom field>=<type>');
  },
);

it(
  'starts again on the same data when the extension of users has changed',
  takesMinutes('changed users of a project'),
  async () => {
    await server.stop();
    const file = 'extensions/users-permissions/content-types/user/schema.json';
    const extension = FILES[file];
    const attributes = { ...extension.attributes, motto: { type: 'string', default: 'none' } };
    writeProject({ [file]: { ...extension, attributes } });
    const again = await startServer({ contentTypes: project, data: server.data });
    try {
      const users = await createAsk(again.url)('/api/users?filters[nickname]=A');
      expect(users.body).toMatchObject([{ username: 'ada', motto: null }]);
    } finally {
      await again.dispose();
    }
  },
);
