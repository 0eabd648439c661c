import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { addRelease, articleTypes, draft } from '../support/released-articles.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { startForTest } from '../support/start-for-test.ts';

/** Entries whose documents take several requests. */
const ENTRIES = 150;
const AT_ONCE = 30;
const space = `releases_${process.pid}`;

it('shows all entries of a type at once, although they take several requests', {
  ...(await needsElasticsearch()),
  timeout: 600_000,
}, async () => {
  const elasticsearch = await elasticsearchUrl();
  onTestFinished(() => removeIndices(elasticsearch, space));
  const { folder: contentTypes, remove } = articleTypes();
  onTestFinished(remove);
  const options = ['--read-index', elasticsearch, '--space', space];
  const server = await startForTest({ contentTypes, arguments: options });
  const client = createApiClient(server.url);
  const text = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ');
  const ids: string[] = [];
  while (ids.length < ENTRIES) {
    const some = Array.from({ length: AT_ONCE }, () => draft(client, { title: 'a', text, batch: 'whole' }));
    ids.push(...(await Promise.all(some)));
  }
  const { id } = await addRelease(client, { name: 'whole' }, ids);

  const totals = new Map<number, number>();
  let isReading = true;
  const read = async () => {
    while (isReading) {
      const path = '/api/articles?filters[batch]=whole&pagination[pageSize]=1&fields=batch';
      const { meta } = await client.call('GET', path);
      const total = meta?.pagination?.total ?? -1;
      totals.set(total, (totals.get(total) ?? 0) + 1);
    }
  };
  const readers = Promise.all([read(), read()]);
  await client.data('POST', `/_varve/releases/${id}/publish`);
  while (!totals.has(ENTRIES)) await new Promise((resolve) => setTimeout(resolve, 20));
  isReading = false;
  await readers;
  expect(Object.keys(Object.fromEntries(totals))).toEqual(['0', String(ENTRIES)]);
});
