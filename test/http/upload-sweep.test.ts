import { createHash } from 'node:crypto';
import { readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openFolderAssetStore } from '../../shared/asset-store/folder/folder-asset-store.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { getJson, upload } from '../support/upload-client.ts';

const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000;
const bytesOf = (name: string) => Buffer.from(`content of ${name}`);
const hashOf = (name: string) => createHash('sha256').update(bytesOf(name)).digest('hex');

it('removes only content that crashes left without a file a day ago', async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const assets = join(data, 'assets');
  const place = (name: string) => join(assets, hashOf(name).slice(0, 2), hashOf(name));
  const isThere = (name: string) =>
    readdirSync(assets, { recursive: true }).some((path) => join(assets, String(path)) === place(name));
  const first = await startServer({ data });
  await upload(
    first,
    ['named', 'named and suspected'].map((name) => ({ name, bytes: bytesOf(name) })),
  );
  await first.stop('SIGKILL');

  // States that a killed process can leave: before the content is kept, before the event, and before the note is removed.
  const store = openFolderAssetStore(assets);
  const suspect = async (name: string, ageMs: number) => {
    await store.suspect(hashOf(name));
    const at = new Date(Date.now() - ageMs);
    utimesSync(join(assets, 'suspects', hashOf(name)), at, at);
  };
  const keep = async (name: string) => {
    const content = async function* () {
      yield bytesOf(name);
    };
    await (await store.stage(content(), 1000)).keep();
  };
  await suspect('never kept', TWO_DAYS_MS);
  await suspect('kept', TWO_DAYS_MS);
  await keep('kept');
  await suspect('kept just now', 60_000);
  await keep('kept just now');
  await keep('of another backup');
  await suspect('named and suspected', TWO_DAYS_MS);

  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  expect(isThere('kept')).toBe(true);
  const [late] = await upload(server, [{ name: 'later', bytes: bytesOf('later') }]);
  const suspects = () => readdirSync(join(assets, 'suspects'));
  await expect.poll(suspects, { timeout: 20_000 }).toEqual([hashOf('kept just now')]);
  expect(isThere('kept')).toBe(false);
  for (const name of ['kept just now', 'of another backup', 'named', 'named and suspected', 'later']) {
    expect(isThere(name), name).toBe(true);
  }
  const { url } = await getJson<{ url: string }>(server, `/api/upload/files/${late?.id}`);
  expect(await (await fetch(server.url + url)).text()).toBe('content of later');
});

it(
  'leaves no note when uploads and removals succeed, are refused or replace content',
  takesMinutes('notes of uploads'),
  async () => {
    const server = await startServer();
    onTestFinished(() => server.dispose());
    const suspects = () => readdirSync(join(server.data, 'assets', 'suspects'));
    const [one, two] = await upload(
      server,
      ['one', 'two'].map((name) => ({ name, bytes: bytesOf(name) })),
    );
    expect(suspects()).toEqual([]);
    await fetch(`${server.url}/api/upload/files/${one?.id}`, { method: 'DELETE' });
    expect(suspects()).toEqual([]);
    const form = new FormData();
    form.append('files', new Blob([bytesOf('three')]), 'three');
    expect(
      (await fetch(`${server.url}/api/upload?id=${two?.id}`, { method: 'POST', body: form })).status,
    ).toBe(200);
    expect(suspects()).toEqual([]);
    const names = readdirSync(join(server.data, 'assets'), { recursive: true }).map(String);
    expect(names.filter((name) => /[0-9a-f]{64}$/.test(name))).toEqual([
      join(hashOf('three').slice(0, 2), hashOf('three')),
    ]);
  },
);
