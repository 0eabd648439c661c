import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const SPACE = `locales_${process.pid}`;
const engines = [
  { engine: 'the embedded index', options: {}, readIndex: async () => [] },
  {
    engine: 'Elasticsearch',
    options: await needsElasticsearch(),
    readIndex: async () => ['--read-index', await elasticsearchUrl(), '--space', SPACE],
  },
];

describe.each(engines)('GET /api/i18n/locales with $engine', ({ engine, options, readIndex }) => {
  describe('a server', options, () => {
    let server: RunningServer;
    let ask: Ask;
    const codes = async (asker: Ask) => {
      const { status, body } = await asker('/api/i18n/locales');
      return status === 200 ? body.map(({ code }: { code: string }) => code) : status;
    };

    beforeAll(async () => {
      server = await startServer({ arguments: await readIndex() });
      ask = createAsk(server.url);
    }, 180_000);
    afterAll(async () => {
      await server?.dispose();
      if (engine === 'Elasticsearch') await removeIndices(await elasticsearchUrl(), SPACE);
    });

    it('has the default locale, and the locales of the content of every type', async () => {
      expect(await codes(ask)).toEqual(['en']);
      const write = async (path: string, data: object) => {
        const { status, body } = await ask(path, { method: 'POST', body: { data } });
        expect(status, JSON.stringify(body)).toBe(201);
        return body.data.documentId as string;
      };
      await write('/api/articles?locale=fr', { key: 'a', title: 'Un' });
      await write('/api/articles?locale=de&status=draft', { key: 'b', title: 'Zwei' });
      await write('/api/topics?locale=pt-BR', { key: 'c' });
      const { body } = await ask('/api/i18n/locales');
      expect(body).toMatchObject([
        { id: 1, name: 'English (en)', code: 'en', isDefault: true },
        { id: 2, name: 'German (de)', code: 'de', isDefault: false },
        { id: 3, name: 'French (fr)', code: 'fr', isDefault: false },
        { id: 4, name: 'Brazilian Portuguese (pt-BR)', code: 'pt-BR', isDefault: false },
      ]);
      expect(Object.keys(body[0])).toEqual(['id', 'documentId', 'name', 'code', 'isDefault']);
    });

    it('has locales that are not language tags, by their code', async () => {
      // A repeated variant: Intl refuses it, but content may have it.
      const path = '/api/articles?locale=de-1996-1996';
      const { status, body } = await ask(path, {
        method: 'POST',
        body: { data: { key: 'd', title: 'Drei' } },
      });
      expect(status).toBe(201);
      const listed = (await ask('/api/i18n/locales')).body;
      expect(listed).toContainEqual(expect.objectContaining({ name: 'de-1996-1996 (de-1996-1996)' }));
      await ask(`/api/articles/${body.data.documentId}?locale=*`, { method: 'DELETE' });
    });

    it('shows a caller the locales of content that it may find, only published ones without the right to drafts', async () => {
      const admin = createAsk(server.url, await createTokenOver(ask, { name: 'all', type: 'full-access' }));
      const asker = async (...allow: readonly string[]) =>
        createAsk(server.url, await createTokenOver(admin, { name: allow.join(), type: 'custom', allow }));
      expect(await codes(await asker('article.find'))).toEqual(['en', 'fr']);
      expect(await codes(await asker('topic.find'))).toEqual(['en', 'pt-BR']);
      expect(await codes(await asker('restaurant.find'))).toBe(403);
      expect(await codes(createAsk(server.url))).toBe(403);
    });
  });
});
