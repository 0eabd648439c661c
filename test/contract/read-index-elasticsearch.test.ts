import { afterAll, beforeAll, describe, vi } from 'vitest';
import { hasElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { describeReadIndexContract } from './read-index-contract.ts';
import { libraryRegistry } from './read-index-library.ts';

// Hundreds of refreshes one after the other take their time where other tests want the same two cores.
vi.setConfig({ testTimeout: 180_000 });

describe.runIf(hasElasticsearch())('on a real Elasticsearch', () => {
  let indices: TestIndices;
  beforeAll(async () => {
    indices = await createTestIndices(libraryRegistry());
  }, 180_000);
  afterAll(() => indices?.remove());

  describeReadIndexContract('elasticsearch', () => indices.open());
});
