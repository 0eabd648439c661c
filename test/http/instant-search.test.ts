import { describe } from 'vitest';
import { startOnElasticsearch } from '../support/corpus-on-elasticsearch.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeInstantSearch } from './instant-search-suite.ts';

const EXAMPLE = { contentTypes: 'examples/restaurants', arguments: ['--examples'] };

describe('on the embedded index', () => describeInstantSearch(() => startServer(EXAMPLE)));

const skip = takesMinutes("Algolia's protocol on Elasticsearch");
describe('on Elasticsearch', await needsElasticsearch(skip), () =>
  describeInstantSearch(() => startOnElasticsearch(EXAMPLE)),
);
