import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { replaced } from '../support/replaced-workers.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const LONG = { ...takesMinutes('a changed file of synonyms'), timeout: 300_000 };
const RESTAURANT = 'api::restaurant.restaurant';

/** Returns the names of the restaurants that a search finds, and the tag of its answer. */
async function search({ url }: RunningServer, words: string) {
  const answer = await fetch(`${url}/api/restaurants?search=${encodeURIComponent(words)}`);
  expect(answer.status).toBe(200);
  const { data } = (await answer.json()) as { readonly data: readonly { readonly name: string }[] };
  return { names: data.map(({ name }) => name), tag: answer.headers.get('etag') };
}

it(
  'uses a changed file of synonyms on SIGHUP, and keeps the old one if the new one is wrong',
  LONG,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-synonyms-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'synonyms.json');
    const write = (groups: unknown) => writeFileSync(file, JSON.stringify({ [RESTAURANT]: { en: groups } }));
    write([['taberna', 'wine bar']]);
    const server = await startServer({
      contentTypes: 'examples/restaurants',
      arguments: ['--examples', '--synonyms', file],
    });
    onTestFinished(() => server.dispose());
    const old = await search(server, 'wine bar');
    expect(old.names).toEqual(['Taberna do Rio']);
    expect((await search(server, 'bodega')).names).toEqual([]);

    const first = server.worker() ?? 0;
    write([['taberna', 'bodega']]);
    expect((await search(server, 'bodega')).names).toEqual([]);
    process.kill(server.supervisor, 'SIGHUP');
    await replaced(server, first);
    expect((await search(server, 'bodega')).names).toEqual(['Taberna do Rio']);
    const without = await search(server, 'wine bar');
    expect(without.names).toEqual([]);
    expect(without.tag).not.toBe(old.tag);

    const second = server.worker();
    write([['alone']]);
    process.kill(server.supervisor, 'SIGHUP');
    await expect.poll(server.output, { timeout: 60_000 }).toMatch(/--synonyms .* is not as expected/);
    expect((await search(server, 'bodega')).names).toEqual(['Taberna do Rio']);
    expect(server.worker()).toBe(second);
  },
);
