import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { replaced } from '../support/replaced-workers.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 60_000 };

/** Returns the names of the restaurants that a search finds, and the answer's cache tags. */
async function search({ url }: RunningServer, words: string) {
  // A process that is replaced may close an idle connection while the next request is sent.
  const headers = { connection: 'close' };
  const answer = await fetch(`${url}/api/restaurants?search=${encodeURIComponent(words)}`, { headers });
  const { data } = (await answer.json()) as { readonly data: readonly { readonly name: string }[] };
  return { names: data.map(({ name }) => name), tags: answer.headers.get('xkey')?.split(' ') ?? [] };
}

it('purges all answers when the synonyms of a file change, while it serves and between two starts', {
  ...takesMinutes('purges after changed synonyms'),
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-purged-synonyms-'));
  const receiver = await startReceiver();
  const file = join(folder, 'synonyms.json');
  const write = (other: string) =>
    writeFileSync(file, JSON.stringify({ 'api::restaurant.restaurant': { en: [['taberna', other]] } }));
  write('wine bar');
  const purging = ['--purge', `webhook=${receiver.url}`, '--cache-tags', 'varnish', '--synonyms', file];
  const started = {
    contentTypes: 'examples/restaurants',
    arguments: ['--examples', ...purging],
    env: { VARVE_PURGE_TOKEN: 'a-secret-of-the-site' },
  };
  let server = await startServer(started);
  onTestFinished(async () => {
    await server.dispose();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });
  const purged = (from: number) =>
    new Set(receiver.received.slice(from).flatMap(({ json }) => json['tags'] as string[]));
  await receiver.until(1);
  const before = await search(server, 'bodega');
  expect(before.names).toEqual([]);
  expect((await search(server, 'wine bar')).names).toEqual(['Taberna do Rio']);

  /** Makes a change after all earlier purges are confirmed, so that the next purge belongs to the change. */
  const changed = async (change: () => Promise<void>) => {
    const { tags } = await search(server, 'bodega');
    const count = receiver.received.length;
    await change();
    await expect.poll(() => tags.some((tag) => purged(count).has(tag)), PATIENT).toBe(true);
  };
  const first = server.worker() ?? 0;
  await changed(async () => {
    write('bodega');
    process.kill(server.supervisor, 'SIGHUP');
    await replaced(server, first);
  });
  expect((await search(server, 'bodega')).names).toEqual(['Taberna do Rio']);
  await changed(async () => {
    await server.stop('SIGTERM');
    write('enoteca');
    server = await startServer({ ...started, data: server.data });
  });
  expect((await search(server, 'bodega')).names).toEqual([]);
  expect((await search(server, 'enoteca')).names).toEqual(['Taberna do Rio']);
});
