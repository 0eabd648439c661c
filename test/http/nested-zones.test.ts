import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { projectFolder } from '../support/strapi-project.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A dynamic zone in a component, and one in a component of that zone. The answers were recorded from Strapi 5.54. */
const component = (attributes: object) => JSON.stringify({ attributes });
const project = projectFolder({
  'config/api.js': 'module.exports = {};',
  'src/api/page/content-types/page/schema.json': JSON.stringify({
    info: { singularName: 'page', pluralName: 'pages' },
    attributes: {
      title: { type: 'string' },
      outer: { type: 'component', component: 'part.outer' },
      outers: { type: 'component', component: 'part.outer', repeatable: true },
    },
  }),
  'src/components/part/outer.json': component({
    name: { type: 'string' },
    zone: { type: 'dynamiczone', components: ['part.step', 'part.linked'] },
  }),
  'src/components/part/step.json': component({ name: { type: 'string' } }),
  'src/components/part/linked.json': component({
    more: { type: 'dynamiczone', components: ['part.step'] },
    label: { type: 'string' },
    page: { type: 'relation', relation: 'oneToOne', target: 'api::page.page' },
  }),
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const space = `zones_${process.pid}`;
let url: string | undefined;

describeNestedZones('in memory', {}, () => startServer({ contentTypes: project }));
describeNestedZones(
  'in Elasticsearch',
  await needsElasticsearch(takesMinutes('dynamic zones in components on Elasticsearch')),
  async () => {
    url = await elasticsearchUrl();
    return startServer({ contentTypes: project, arguments: ['--read-index', url, '--space', space] });
  },
);
afterAll(async () => {
  if (url !== undefined) await removeIndices(url, space);
});

function describeNestedZones(where: string, skip: object, start: () => Promise<RunningServer>): void {
  describe(`a dynamic zone in a component, ${where}`, skip, () => {
    let server: RunningServer;
    let ask: Ask;

    beforeAll(async () => {
      server = await start();
      ask = createAsk(server.url);
      const write = (data: object) => ask('/api/pages', { method: 'POST', body: { data } });
      const target = (await write({ title: 'target' })).body.data.documentId;
      const linked = {
        __component: 'part.linked',
        label: 'l',
        page: target,
        more: [{ __component: 'part.step', name: 'deep' }],
      };
      const step = (name: string) => ({ __component: 'part.step', name });
      const created = await write({
        title: 'a',
        outer: { name: 'o', zone: [step('z1'), linked] },
        outers: [{ name: 'o1', zone: [step('z2')] }, { name: 'o2' }],
      });
      expect(created.status, JSON.stringify(created.body)).toBe(201);
    }, 180_000);
    afterAll(() => server?.dispose());

    const page = async (query: string) => {
      const { status, body } = await ask(`/api/pages?filters[title]=a&${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.data[0];
    };
    const STEP = { __component: 'part.step', name: 'z1' };

    it.each([
      ['populate=*', { outer: { name: 'o' }, outers: [{ name: 'o1' }, { name: 'o2' }] }],
      ['populate=outer.zone', { outer: { zone: [STEP, { label: 'l' }] } }],
      ['populate[outer][populate]=*', { outer: { zone: [STEP, { label: 'l' }] } }],
      ['populate=outer.zone.page', { outer: { zone: [STEP, { page: { title: 'target' } }] } }],
      [
        'populate[outer][populate][zone][populate]=*',
        { outer: { zone: [STEP, { page: { title: 'target' }, more: [{ name: 'deep' }] }] } },
      ],
      [
        'populate[outer][populate][zone][on][part.linked][populate]=page',
        { outer: { zone: [{ page: { title: 'target' } }] } },
      ],
      [
        'populate[outer][populate][zone][on][part.linked][populate][more][populate]=*',
        { outer: { zone: [{ more: [{ __component: 'part.step', name: 'deep' }] }] } },
      ],
      ['populate[outers][populate]=zone', { outers: [{ zone: [{ name: 'z2' }] }, { zone: [] }] }],
    ])('answers %s as Strapi does', async (query, wanted) => {
      expect(await page(query)).toMatchObject(wanted);
    });

    it('is absent unless it is populated', async () => {
      expect(Object.keys((await page('populate=*')).outer)).toEqual(['id', 'name']);
    });

    it.each(['filters[outer][zone][name]=z1', 'filters[outer][zone][$null]=true', 'sort=outer.zone'])(
      'refuses %s as Strapi does',
      async (query) => {
        const { status, body } = await ask(`/api/pages?${query}`);
        expect([status, body.error.message]).toEqual([400, 'Invalid key zone at outer.zone']);
      },
    );

    it('keeps and replaces components of the zone', async () => {
      const before = await page('populate[outer][populate][zone][populate]=*');
      const [, linked] = before.outer.zone;
      const put = (outer: object) =>
        ask(`/api/pages/${before.documentId}`, { method: 'PUT', body: { data: { outer } } });
      const kept = { __component: 'part.linked', id: linked.id, label: 'changed' };
      expect((await put({ id: before.outer.id, zone: [kept] })).status).toBe(200);
      const after = (await page('populate[outer][populate][zone][populate]=*')).outer;
      expect(after.zone).toMatchObject([{ label: 'changed', page: { title: 'target' } }]);
      expect((await put({ name: 'n', zone: [] })).status).toBe(200);
      expect((await page('populate=outer.zone')).outer).toMatchObject({ name: 'n', zone: [] });
    });

    it('refuses a component that the zone does not list, and a value that is not a list', async () => {
      for (const [zone, message] of [
        [[{ __component: 'part.none' }], 'outer.zone[0].__component must be one of the following values'],
        [{ a: 1 }, 'outer.zone must be a `array` type'],
      ] as const) {
        const { status, body } = await ask('/api/pages', {
          method: 'POST',
          body: { data: { outer: { zone } } },
        });
        expect(status).toBe(400);
        expect(JSON.stringify(body)).toContain(message);
      }
    });
  });
}
