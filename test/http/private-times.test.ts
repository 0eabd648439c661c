import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { projectFolder } from '../support/strapi-project.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** Types that make the times of their rows private. */
const TIMES = ['createdAt', 'updatedAt', 'publishedAt'];
const toOne = (target: string) => ({ type: 'relation', relation: 'manyToOne', target });
const schema = (name: string, attributes: object, options: object = {}, i18n = false) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: JSON.stringify({
    info: { singularName: name, pluralName: `${name}s` },
    options: { draftAndPublish: false, ...options },
    pluginOptions: i18n ? { i18n: { localized: true } } : {},
    attributes,
  }),
});
const PERSON = {
  name: { type: 'string', pluginOptions: { i18n: { localized: true } } },
  data: { type: 'json' },
  boss: toOne('api::person.person'),
};
const person = (privateAttributes: readonly string[]) =>
  schema('person', PERSON, { draftAndPublish: true, privateAttributes }, true);
const OTHERS = {
  ...schema('label', { name: { type: 'string' }, createdAt: { type: 'datetime', private: true } }),
  ...schema('note', {
    name: { type: 'string' },
    person: toOne('api::person.person'),
    label: toOne('api::label.label'),
  }),
  'src/extensions/users-permissions/content-types/user/schema.json': JSON.stringify({
    info: { singularName: 'user', pluralName: 'users' },
    options: { privateAttributes: ['updatedAt', 'provider'] },
    attributes: { email: { type: 'email', private: true }, city: { type: 'string' } },
  }),
  'config/api.js': 'module.exports = { rest: { strictParams: true } };',
};
const project = projectFolder({ ...person(TIMES), ...OTHERS });
afterAll(() => rmSync(project, { recursive: true }));

const SUITES = [
  ['the embedded index', {}, async () => []],
  [
    'Elasticsearch',
    await needsElasticsearch(),
    async () => ['--read-index', await elasticsearchUrl(), '--space', `times_${process.pid}`],
  ],
] as const;

describe.each(SUITES)('private times on %s', (engine, options, settings) => {
  describe('of content types', options, () => {
    let server: RunningServer;
    let ask: Ask;
    let documentId: string;
    const post = async (path: string, data: object) => {
      const answer = await ask(`/api/${path}`, { method: 'POST', body: { data } });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return answer.body.data;
    };

    beforeAll(async () => {
      server = await startServer({ contentTypes: project, arguments: await settings() });
      ask = createAsk(server.url);
      const boss = await post('persons', { name: 'Ada' });
      // Text that looks like the members of an answer stays as it is.
      const data = { text: ',"createdAt":"x","updatedAt":null', createdAt: 'x', publishedAt: null };
      const created = await post('persons', { name: 'Bob', data, boss: boss.documentId });
      documentId = created.documentId;
      await ask(`/api/persons/${documentId}?locale=fr`, {
        method: 'PUT',
        body: { data: { name: 'Robert' } },
      });
      const label = await post('labels', { name: 'red' });
      await post('notes', { name: 'first', person: documentId, label: label.documentId });
    });
    afterAll(async () => {
      await server?.dispose();
      if (engine === 'Elasticsearch') await removeIndices(await elasticsearchUrl(), `times_${process.pid}`);
    });

    it('are in no answer', async () => {
      const wanted = (name: string) => ['documentId', 'id', 'locale', 'name', name].sort();
      for (const path of [
        '/api/persons?populate=*',
        '/api/persons?status=draft',
        '/api/persons?locale=fr&populate=localizations',
        '/api/persons?fields=name&populate[boss][fields]=name',
      ]) {
        const { status, body } = await ask(path);
        expect(status).toBe(200);
        for (const row of body.data.flatMap((one: Record<string, unknown>) =>
          [one, one['boss'] ?? [], one['localizations'] ?? []].flat(),
        ))
          expect(
            TIMES.filter((name) => name in row),
            path,
          ).toEqual([]);
      }
      const { body } = await ask(`/api/persons/${documentId}`);
      expect(Object.keys(body.data).sort()).toEqual(wanted('data'));
      expect(body.data.data).toEqual({
        text: ',"createdAt":"x","updatedAt":null',
        createdAt: 'x',
        publishedAt: null,
      });
      const note = (await ask('/api/notes?populate[person][populate]=boss&populate[label]=true')).body
        .data[0];
      expect(Object.keys(note)).toEqual(expect.arrayContaining(TIMES));
      expect(Object.keys(note.person).sort()).toEqual(['boss', 'data', 'documentId', 'id', 'locale', 'name']);
      expect(Object.keys(note.person.boss).sort()).toEqual(wanted('data'));
      expect(Object.keys(note.label)).toEqual(['id', 'documentId', 'name', 'updatedAt', 'publishedAt']);
    });

    it.each([
      'persons?filters[NAME][$notNull]=true',
      'persons?filters[$or][0][NAME]=2020-01-01',
      'persons?filters[boss][NAME][$null]=true',
      'persons?sort=NAME',
      'persons?sort[0]=NAME:desc',
      'persons?sort[NAME]=asc',
      'persons?sort=boss.NAME',
      'persons?fields=NAME',
      'persons?fields[0]=name&fields[1]=NAME',
      'persons?populate=NAME',
      'persons?populate[NAME]=true',
      'persons?populate[0]=boss.NAME',
      'persons?populate[boss][fields]=NAME',
      'persons?populate[boss][sort]=NAME',
      'persons?populate[boss][filters][NAME][$null]=true',
      'persons?populate[localizations][sort]=NAME',
      'notes?filters[person][boss][NAME][$gt]=2020-01-01',
      'notes?sort=person.NAME',
    ])('answer %s like a name that does not exist', async (query) => {
      for (const name of TIMES) {
        const [found, unknown] = await Promise.all(
          [name, 'nothingAt'].map((each) => ask(`/api/${query.replace('NAME', each)}`)),
        );
        const text = JSON.stringify(unknown?.body).replaceAll('nothingAt', name);
        expect([found?.status, JSON.stringify(found?.body)]).toEqual([400, text]);
        expect(found?.body.error.message).toContain(`Invalid key ${name}`);
      }
    });

    it('leave the times of other types, and one that another makes private, as they are', async () => {
      expect(
        (await ask('/api/notes?sort=createdAt&filters[createdAt][$notNull]=true')).body.data,
      ).toHaveLength(1);
      expect((await ask('/api/labels?sort=updatedAt&fields=publishedAt')).status).toBe(200);
      expect((await ask('/api/labels?sort=createdAt')).status).toBe(400);
      expect(server.output()).toContain(
        'Strapi shows createdAt here: it takes options.privateAttributes alone',
      );
    });

    it('hide what an extension of the users makes private', async () => {
      const user = {
        username: 'cyd',
        email: 'cyd@example.com',
        password: 'long enough',
        city: 'Ulm',
        role: 1,
      };
      const created = await ask('/api/users', { method: 'POST', body: user });
      expect(created.status).toBe(201);
      const { body } = await ask('/api/users');
      for (const row of [created.body, body[0]])
        expect(Object.keys(row)).toEqual([
          'id',
          'documentId',
          'username',
          'confirmed',
          'blocked',
          'city',
          'createdAt',
          'publishedAt',
        ]);
      for (const name of ['email', 'provider', 'updatedAt'])
        expect((await ask(`/api/users?sort=${name}`)).status).toBe(400);
    });

    it('are not described', async () => {
      const { schemas } = (await ask('/openapi.json')).body.components;
      const text = JSON.stringify(schemas);
      expect(text).toContain('createdAt');
      const shown = Object.entries<{ properties?: object }>(schemas).filter(
        ([name, { properties }]) =>
          /person/i.test(name) && properties && TIMES.some((each) => each in properties),
      );
      expect(shown).toEqual([]);
    });
  });
});

it('are in no webhook, also after a deletion', async () => {
  const [server, receiver] = [await startServer({ contentTypes: project }), await startReceiver()];
  onTestFinished(async () => {
    await server.dispose();
    await receiver.close();
  });
  const ask = createAsk(server.url);
  const hook = { url: receiver.url, allowPrivate: true, events: ['entry.create', 'entry.delete'] };
  const made = await ask('/_varve/webhooks', { method: 'POST', body: { data: hook } });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const created = await ask('/api/persons', { method: 'POST', body: { data: { name: 'Ada' } } });
  await receiver.until(1);
  await ask(`/api/persons/${created.body.data.documentId}`, { method: 'DELETE' });
  for (const { json } of await receiver.until(2)) {
    expect(json.entry?.['name']).toBe('Ada');
    expect(Object.keys(json.entry ?? {}).filter((name) => TIMES.includes(name))).toEqual([]);
  }
});

it(
  'appear and vanish with the content types',
  takesMinutes('private times of changed content types'),
  async () => {
    const data = createDataDirectory();
    const shown = projectFolder({ ...person(['createdBy']), ...OTHERS });
    onTestFinished(() => {
      for (const folder of [data, shown]) rmSync(folder, { recursive: true, force: true });
    });
    const seen: unknown[] = [];
    for (const contentTypes of [shown, project, shown]) {
      const server = await startServer({ contentTypes, data });
      onTestFinished(() => server.dispose());
      const ask = createAsk(server.url);
      if (seen.length === 0) await ask('/api/persons', { method: 'POST', body: { data: { name: 'Ada' } } });
      const sorted = await ask('/api/persons?sort=createdAt');
      const [row] = (await ask('/api/persons')).body.data;
      seen.push([sorted.status, TIMES.filter((name) => typeof row[name] === 'string')]);
      expect((await server.stop()).code).toBe(0);
    }
    expect(seen).toEqual([
      [200, TIMES],
      [400, []],
      [200, TIMES],
    ]);
  },
);
