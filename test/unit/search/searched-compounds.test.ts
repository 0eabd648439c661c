import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';

const KNIFE = 'api::knife.knife';
const { registry } = buildRegistry([
  {
    ...({ model: 'contentType', file: 'knife.json', namespace: 'api::knife' } as const),
    json: {
      kind: 'collectionType',
      info: { singularName: 'knife', pluralName: 'knives', displayName: 'Knife' },
      attributes: { title: { type: 'string' }, notes: { type: 'text' } },
      pluginOptions: { varve: { search: { locale: 'de' } } },
    },
  },
]);

/** 600 words of which `messer` may be a part. Each is shorter than `kochmesser`. */
const SHORTER = Array.from({ length: 600 }, (_, at) => {
  const letters = [Math.floor(at / 100), Math.floor(at / 10) % 10, at % 10];
  return `${letters.map((each) => 'abcdefghij'[each]).join('')}messer`;
});

it('chooses among the words with a part only those of searched fields', async () => {
  const index = createEmbeddedIndex({ registry });
  const texts = [
    { title: 'Kochmesser', notes: null },
    { title: 'Koch', notes: SHORTER.join(' ') },
  ];
  const rows = texts.map((text, at) => {
    const fields = { id: at + 1, documentId: `d${at + 1}`, ...text };
    const source = Buffer.from(JSON.stringify(fields));
    return { type: KNIFE, version: 'live', key: at + 1, row: { source, fields, components: {} } } as const;
  });
  await index.apply({ position: 1n, rows, links: [] });
  const text = { query: 'messer ', locales: ['de'], typoTolerance: true, isRanked: true } as const;
  const { hits } = await index.search({
    ...{ type: KNIFE, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0, size: 10 },
    ...{ withTotal: true, text: { ...text, fields: new Set(['title']) } },
  });
  expect(hits.rows).toHaveLength(1);
  expect(JSON.parse(Buffer.from(hits.sources[0] ?? []).toString())).toMatchObject({ title: 'Kochmesser' });
});
