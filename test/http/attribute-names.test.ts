import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Attribute names that Strapi's files may contain: letters of any script, hyphens, and digits and `_` at the beginning. */
const FILES = {
  'api/cita/content-types/cita/schema.json': {
    kind: 'collectionType',
    info: { singularName: 'cita', pluralName: 'citas' },
    attributes: {
      título: { type: 'string', unique: true },
      'meta-title': { type: 'string' },
      año: { type: 'integer' },
      'sala-principal': {
        type: 'relation',
        relation: 'manyToOne',
        target: 'api::sala.sala',
        inversedBy: 'citas-año',
      },
      'bloque-ñ': { type: 'component', component: 'común.bloque-ñ', repeatable: true },
      '2fa': { type: 'boolean' },
      _orden: { type: 'integer' },
      'clave-oculta': { type: 'string', private: true },
      latitud: { type: 'decimal' },
      'longitud-ñ': { type: 'float' },
    },
    pluginOptions: { varve: { search: { geo: { 'sitio-ñ': { lat: 'latitud', lng: 'longitud-ñ' } } } } },
  },
  'api/sala/content-types/sala/schema.json': {
    kind: 'collectionType',
    info: { singularName: 'sala', pluralName: 'salas' },
    attributes: {
      'nombre-corto': { type: 'string' },
      名前: { type: 'string' },
      'citas-año': {
        type: 'relation',
        relation: 'oneToMany',
        target: 'api::cita.cita',
        mappedBy: 'sala-principal',
      },
    },
  },
  'components/común/bloque-ñ.json': { attributes: { 'día-hora': { type: 'string' } } },
};

function writeProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'varve-names-'));
  for (const [file, json] of Object.entries(FILES)) {
    mkdirSync(join(project, dirname(file)), { recursive: true });
    writeFileSync(join(project, file), JSON.stringify(json));
  }
  return project;
}

/** Queries, and the years of their answers in order. */
const QUERIES: readonly (readonly [query: string, years: readonly number[]])[] = [
  ['filters[año][$gte]=2001&sort=año', [2001, 2002]],
  ['filters[meta-title]=m2', [2002]],
  ['filters[meta-title][$contains]=m&sort[0]=meta-title:desc', [2002, 2001, 2000]],
  ['filters[título][$eqi]=TÍTULO 1', [2001]],
  ['filters[2fa]=true', [2001]],
  ['sort=_orden', [2002, 2001, 2000]],
  ['sort=sala-principal.nombre-corto:desc,año', [2001, 2000, 2002]],
  ['filters[sala-principal][名前]=雪&sort=año', [2000, 2002]],
  ['filters[sala-principal][citas-año][año]=2002&sort=año', [2000, 2002]],
  ['filters[bloque-ñ][día-hora]=d1', [2001]],
  ['filters[$not][bloque-ñ][día-hora][$contains]=d1&sort=año:desc', [2002, 2000]],
  ['_q=título 2', [2002]],
  ['filters[sitio-ñ][$near]=41,-3.5,100km', [2001]],
  ['filters[sitio-ñ][$near]=41,-3.5,112km&sort=año', [2001, 2002]],
  ['filters[$not][sitio-ñ][$near]=41,-3.5,100km', [2002]],
  ['filters[sitio-ñ][$within]=41.5,-4,42,-3', [2002]],
  ['sort[sitio-ñ]=43,-3.5', [2002, 2001, 2000]],
  ['search=título&sort[sitio-ñ]=40,-3.5&filters[año][$gte]=2001', [2001, 2002]],
  ['search=título&filters[sitio-ñ][$near]=41,-3.5,100km&facets=año', [2001]],
  ['filters[sala-principal][citas-año][sitio-ñ][$near]=42,-3.5,1mi&sort=año', [2000, 2002]],
];

const needsIndex = await needsElasticsearch();
const engines = [
  { engine: 'the embedded index', options: {}, readIndex: async () => [] },
  {
    engine: 'Elasticsearch',
    options: needsIndex,
    readIndex: async () => ['--read-index', await elasticsearchUrl(), '--space', SPACE],
  },
] as const;
const SPACE = `names_${process.pid}`;

for (const { engine, options, readIndex } of engines) {
  describe(`attribute names that are not ASCII words, with ${engine}`, options, () => {
    const contentTypes = writeProject();
    let server: RunningServer;
    let ask: Ask;

    beforeAll(async () => {
      const made = await readIndex();
      server = await startServer({ contentTypes, arguments: made });
      ask = createAsk(server.url);
      const rooms = [];
      for (const data of [
        { 'nombre-corto': 'A', 名前: '雪' },
        { 'nombre-corto': 'B', 名前: '花' },
      ]) {
        const { status, body } = await ask('/api/salas', { method: 'POST', body: { data } });
        expect(status, JSON.stringify(body)).toBe(201);
        rooms.push(body.data.documentId);
      }
      for (const at of [0, 1, 2]) {
        const data = {
          ...{ título: `Título ${at}`, 'meta-title': `m${at}`, año: 2000 + at, '2fa': at === 1, _orden: -at },
          ...{ 'sala-principal': rooms[at % 2], 'bloque-ñ': [{ 'día-hora': `d${at}` }] },
          'clave-oculta': 'secreto',
          ...(at > 0 && { latitud: 40 + at, 'longitud-ñ': -3.5 }),
        };
        const { status, body } = await ask('/api/citas', { method: 'POST', body: { data } });
        expect(status, JSON.stringify(body)).toBe(201);
      }
    }, 180_000);
    afterAll(async () => {
      await server?.dispose();
      if (engine === 'Elasticsearch') await removeIndices(await elasticsearchUrl(), SPACE);
      rmSync(contentTypes, { recursive: true });
    });

    it.each(QUERIES)('answers %s', async (query, years) => {
      const { status, body } = await ask(`/api/citas?${encodeURI(query)}`);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.data.map((row: { año: number }) => row.año)).toEqual(years);
    });

    it('populates and selects them', async () => {
      const query = 'fields=año,meta-title&populate=sala-principal.citas-año,bloque-ñ&filters[año]=2000';
      const { body } = await ask(`/api/citas?${encodeURI(query)}`);
      expect(body.data).toMatchObject([
        {
          año: 2000,
          'meta-title': 'm0',
          'sala-principal': { 名前: '雪', 'citas-año': [{ año: 2000 }, { año: 2002 }] },
          'bloque-ñ': [{ 'día-hora': 'd0' }],
        },
      ]);
      expect(body.data[0]).not.toHaveProperty('título');
    });

    it('populates the entries near a place', async () => {
      const near = 'populate[citas-año][filters][sitio-ñ][$near]=42,-3.5,1km';
      const { body } = await ask(`/api/salas?sort=nombre-corto&${encodeURI(near)}`);
      const years = body.data.map((sala: { 'citas-año': readonly { año: number }[] }) =>
        sala['citas-año'].map(({ año }) => año),
      );
      expect(years).toEqual([[2002], []]);
    });

    it('refuses private, unknown and reserved names with 400', async () => {
      for (const name of ['clave-oculta', 'anio', 'meta', 'año-'])
        expect((await ask(`/api/citas?${encodeURI(`filters[${name}]=1`)}`)).status, name).toBe(400);
      const again = await ask('/api/citas', { method: 'POST', body: { data: { título: 'Título 1' } } });
      expect([again.status, again.body.error.details.errors[0].path]).toEqual([400, ['título']]);
    });

    it('refuses places that it cannot read with 400, and says what it accepts', async () => {
      const refused = async (filter: string) => {
        const { status, body } = await ask(`/api/citas?${encodeURI(`filters[sitio-ñ]${filter}`)}`);
        expect(status, filter).toBe(400);
        const { name, message, details } = body.error;
        expect(name).toBe('ValidationError');
        return [message, details.at, details.found, details.accepted];
      };
      expect(await refused('[$near]=41,-3.5,10parsecs')).toEqual([
        'Invalid operand of $near',
        'filters[sitio-ñ][$near]',
        '41,-3.5,10parsecs',
        expect.stringContaining('52.52,13.4,10km'),
      ]);
      expect((await refused('=41'))[3]).toEqual(['$near', '$within']);
    });

    it("finds them in boxes of Algolia's protocol, and hits have their place", async () => {
      const query = (body: object) => ask('/1/indexes/citas/query', { method: 'POST', body });
      const { status, body } = await query({ insideBoundingBox: [[43, -3, 41.5, -4]] });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.hits).toMatchObject([{ año: 2002, _geoloc: { lat: 42, lng: -3.5 } }]);
      const { hits } = (await query({ attributesToRetrieve: ['año', '_geoloc'] })).body;
      const places = hits.map((hit: { _geoloc?: object }) => hit._geoloc);
      expect(places).toHaveLength(3);
      expect(places).toContain(undefined);
      expect(places).toContainEqual({ lat: 41, lng: -3.5 });
      const refused = await query({ insideBoundingBox: '1,2,3' });
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringContaining("Invalid parameter 'insideBoundingBox': found 1,2,3"),
      ]);
    });

    it("orders them by distance in Algolia's protocol", async () => {
      const years = async (parameters: object) => {
        const body = { aroundLatLng: '43, -3.5', getRankingInfo: true, ...parameters };
        const answer = await ask('/1/indexes/citas/query', { method: 'POST', body });
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        type Hit = { año: number; _rankingInfo: { geoDistance: number } };
        return answer.body.hits.map((hit: Hit) => [hit.año, hit._rankingInfo.geoDistance]);
      };
      const [near, far] = [
        [2002, 11_119],
        [2001, 22_239],
      ];
      expect(await years({})).toEqual([near, far]);
      expect(await years({ aroundLatLng: '40,-3.5', aroundRadius: 112_000 })).toEqual([[2001, 11_119]]);
      expect(await years({ aroundPrecision: 20_000_000 })).toEqual([
        [2001, 0],
        [2002, 0],
      ]);
      expect(await years({ query: 'título 1', aroundRadius: 223_000 })).toEqual([far]);
      const refused = await ask('/1/indexes/citas/query', {
        method: 'POST',
        body: { aroundLatLng: '43,-3.5', query: 'título' },
      });
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringMatching(/does not order hits of words.*Expected aroundRadius in metres/),
      ]);
    });

    it('describes them in its OpenAPI document', async () => {
      const { status, body } = await ask('/openapi.json');
      expect(status).toBe(200);
      expect(body.components.schemas.Cita.properties).toHaveProperty('meta-title');
      const filters = body.components.schemas['Cita.Filters'].properties;
      expect(Object.keys(filters['sitio-ñ'].properties)).toEqual(['$near', '$within']);
    });
  });
}
