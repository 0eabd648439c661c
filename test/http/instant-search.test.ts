import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { startOnElasticsearch } from '../support/corpus-on-elasticsearch.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeInstantSearch } from './instant-search-suite.ts';

let folder: string;

/** Copies the example, and names the attribute that groups restaurants. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-instant-'));
  cpSync('examples/restaurants', folder, { recursive: true });
  // The search page reads its packages from here.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'api/restaurant/content-types/restaurant/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8')) as object;
  const pluginOptions = { varve: { search: { distinct: 'priceLevel' } } };
  writeFileSync(file, JSON.stringify({ ...schema, pluginOptions }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const example = () => ({ contentTypes: folder, arguments: ['--examples'] });

describe('on the embedded index', () => describeInstantSearch(() => startServer(example())));

const skip = takesMinutes("Algolia's protocol on Elasticsearch");
describe('on Elasticsearch', await needsElasticsearch(skip), () =>
  describeInstantSearch(() => startOnElasticsearch(example())),
);
