import { describe } from 'vitest';
import { startCorpusOnElasticsearch } from '../../support/corpus-on-elasticsearch.ts';
import { needsElasticsearch } from '../../support/elasticsearch.ts';
import { startOnCorpus } from '../../support/loaded-corpus.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';
import { describeInstantLeaks } from './instant-leaks-suite.ts';
import { describeLeaks } from './leaks-suite.ts';
import { describeSearchLeaks } from './search-leaks-suite.ts';

const SUITES = {
  lists: describeLeaks,
  searches: describeSearchLeaks,
  "Algolia's protocol": describeInstantLeaks,
};

describe.each(Object.entries(SUITES))('%s on the embedded index', (_name, describeSuite) => {
  describeSuite(startOnCorpus);
});

const skip = takesMinutes('what callers must not see, on Elasticsearch');
describe.each(Object.entries(SUITES))(
  '%s on Elasticsearch',
  await needsElasticsearch(skip),
  (_name, describeSuite) => {
    describeSuite(startCorpusOnElasticsearch);
  },
);
