import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, getJson, upload } from '../support/upload-client.ts';

type Pictured = FileAnswer & {
  readonly formats: { readonly [name: string]: { readonly url: string; readonly hash: string } };
};

const bytesAt = async (server: RunningServer, url: string) => {
  const answer = await fetch(server.url + url);
  return [answer.status, answer.headers.get('etag'), answer.headers.get('cache-control')] as const;
};

it('serves a picture and its formats under their URLs after an export to Strapi and an import', {
  ...takesMinutes('a round trip of pictures'),
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-round-trip-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [archive, data] = [join(folder, 'out.tar.gz'), join(folder, 'data')];
  const first = await startServer();
  onTestFinished(() => first.dispose());
  const bytes = readFileSync(join(import.meta.dirname, '../pictures/files/small.webp'));
  const [file] = (await upload(first, [{ name: 'small.webp', bytes }])) as readonly Pictured[];
  const urls = [file?.url ?? '', file?.formats['thumbnail']?.url ?? ''];
  const before = await Promise.all(urls.map((url) => bytesAt(first, url)));
  expect(new Set(before.map(([, etag]) => etag)).size).toBe(2);
  const exported = await runVarve(['export', '--strapi', archive, '--data', first.data]);
  expect(exported.code, exported.stderr).toBe(0);
  expect((await runVarve(['import', archive, '--data', data])).code).toBe(0);
  const second = await startServer({ data, contentTypes: archive });
  onTestFinished(() => second.dispose());
  const after = await Promise.all(urls.map((url) => bytesAt(second, url)));
  expect(after).toEqual(before.map(([status, etag]) => [status, etag, 'public, max-age=0, must-revalidate']));
  const [again] = await getJson<readonly Pictured[]>(second, '/api/upload/files');
  expect(again?.formats['thumbnail']?.hash).toBe(`thumbnail_${again?.hash}`);
  await fetch(`${second.url}/api/upload/files/${again?.id}`, { method: 'DELETE' });
  expect(await Promise.all(urls.map(async (url) => (await bytesAt(second, url))[0]))).toEqual([404, 404]);
});
