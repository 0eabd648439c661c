import { afterAll, beforeAll, describe, vi } from 'vitest';
import { DEFAULT_DENORMALISE } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { createRowCache } from '../../shared/read-index/elasticsearch/read/row-cache.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeReadIndexContract } from './read-index-contract.ts';
import { describeGroups } from './read-index-groups.ts';
import { libraryRegistry } from './read-index-library.ts';

// Hundreds of refreshes one after the other take long if other tests use the same cores.
vi.setConfig({ testTimeout: 180_000 });

describe('on a real Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  beforeAll(async () => {
    indices = await createTestIndices(libraryRegistry());
  }, 180_000);
  afterAll(() => indices?.remove());

  describeReadIndexContract('elasticsearch', () => indices.open());
  // Every search first asks only for digests, so that kept rows are used if possible.
  describeReadIndexContract('elasticsearch, rows kept in the process', () =>
    indices.open({ rows: createRowCache({ maxBytes: 2 ** 20, expectFrom: 0 }) }),
  );
  describe('groups of a search that finds too many entries to read them all', () =>
    describeGroups(() => indices.open({ groupLimit: 3 })));
});

const ONE_COPY = 'on a real Elasticsearch, with at most one copy in a list';
describe(ONE_COPY, await needsElasticsearch(takesMinutes(ONE_COPY)), () => {
  let indices: TestIndices;
  beforeAll(async () => {
    indices = await createTestIndices(libraryRegistry(), DEFAULT_DENORMALISE, 1);
  }, 180_000);
  afterAll(() => indices?.remove());

  describeReadIndexContract('elasticsearch, without copies of several linked rows', () => indices.open());
});
