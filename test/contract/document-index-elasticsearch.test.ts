import { describe, vi } from 'vitest';
import { createElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { describeDocumentIndexContract, NOTE } from './document-index-contract.ts';

vi.setConfig({ testTimeout: 120_000 });

const json = {
  kind: 'collectionType',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  options: { draftAndPublish: true },
  attributes: { name: { type: 'string' }, size: { type: 'integer' } },
};
const { registry } = buildRegistry([
  { model: 'contentType', file: 'note.json', namespace: 'api::note', json },
]);

let spaces = 0;

describe('on a real Elasticsearch', await needsElasticsearch(), () => {
  describeDocumentIndexContract('elasticsearch', async () => {
    const url = await elasticsearchUrl();
    const space = `documents_${process.pid}_${++spaces}`;
    const cluster = createElasticsearchCluster({ connection: { url }, space, registry });
    await cluster.fence.raise(1, async () => true);
    const { set, promote } = await cluster.openIndices({
      log: 'one',
      replaceAll: false,
      distrusted: [],
      epoch: 1,
    });
    await promote();
    cluster.use(set);
    const blockWrites = async (isBlocked: boolean) => {
      const body = JSON.stringify({ 'index.blocks.write': isBlocked });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${url}/${space}-api_*/_settings`, { method: 'PUT', headers, body });
    };
    return {
      index: cluster.createWriter(),
      async found() {
        const keys = await cluster.stored.keysAfter(NOTE, 'published', 0, 100);
        const read = await cluster.stored.read(keys.map((key) => ({ type: NOTE, world: 'published', key })));
        const rowOf = (text = '') => JSON.parse(Buffer.from(text, 'base64').toString());
        return Object.fromEntries(keys.map((key, at) => [key, rowOf(read[at]?.fields['answer'])]));
      },
      async block() {
        await blockWrites(true);
        return () => blockWrites(false);
      },
      refuseWrongSizes() {},
      async close() {
        await cluster.close();
        await removeIndices(url, space);
      },
    };
  });
});
