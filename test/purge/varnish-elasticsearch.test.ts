import { needsElasticsearch } from '../support/elasticsearch.ts';
import { describeBehindVarnish, startOnElasticsearch } from './describe-behind-varnish.ts';

await describeBehindVarnish({
  name: 'two varve serve on Elasticsearch',
  needs: needsElasticsearch,
  start: (port, env) => startOnElasticsearch(port, env, { projects: 0, apis: 0, serves: 2 }),
});
