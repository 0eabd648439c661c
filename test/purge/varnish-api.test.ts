import { needsElasticsearch } from '../support/elasticsearch.ts';
import { describeBehindVarnish, startOnElasticsearch } from './describe-behind-varnish.ts';

await describeBehindVarnish({
  name: 'varve project and varve api',
  needs: needsElasticsearch,
  start: (port, env) => startOnElasticsearch(port, env, { projects: 2, apis: 2, serves: 0 }),
});
