import { expect, it, onTestFinished } from 'vitest';
import { draft, PAGE, type ShownRelease, startArticles } from '../support/released-articles.ts';

/** Pages in two locales: more events than the projector reads at once. */
const PAGES = 520;
const AT_ONCE = 40;

it('shows all entries of a release of more than 1,000 events at once', { timeout: 300_000 }, async () => {
  const { client, dispose } = await startArticles();
  onTestFinished(dispose);
  const create = async () => {
    const id = await draft(client, { title: 'a' }, 'pages');
    await client.data('PUT', `/api/pages/${id}?locale=fr&status=draft`, { data: { title: 'b' } });
    return id;
  };
  const ids: string[] = [];
  while (ids.length < PAGES) ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, create))));
  const { id } = await client.data<ShownRelease>('POST', '/_varve/releases', { data: { name: 'large' } });
  const actions = ids.map((entryDocumentId) => ({
    type: 'publish',
    contentType: PAGE,
    locale: '*',
    entryDocumentId,
  }));
  await client.data('POST', `/_varve/releases/${id}/actions/bulk`, { data: actions });

  const totals = new Set<number | undefined>();
  let isReading = true;
  const read = async () => {
    while (isReading) {
      const { meta } = await client.call('GET', '/api/pages?locale=*&pagination[pageSize]=1&fields=title');
      totals.add(meta?.pagination?.total);
    }
  };
  const reading = read();
  const published = await client.call('POST', `/_varve/releases/${id}/publish`);
  expect(published.status, JSON.stringify(published.error)).toBe(200);
  isReading = false;
  await reading;
  totals.add((await client.call('GET', '/api/pages?locale=*&fields=title')).meta?.pagination?.total);
  expect([...totals]).toEqual([0, 2 * ids.length]);
});
