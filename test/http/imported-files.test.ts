import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { AT, archivedType, writeArchive } from '../support/strapi-archive.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Files of an archive: a picture with a smaller format, a page that a browser would run, and a file at a cloud provider. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const SMALL = Buffer.concat([PNG, Buffer.from('small')]);
/** A long file name. Strapi's stored names contain the whole original name. */
const LONG_NAME = `${'a_walk_along_the_river_in_the_evening_sun_'.repeat(4)}0123456789.png`;
const HTML = Buffer.from('<!doctype html><script>alert(1)</script>');
const folder = mkdtempSync(join(tmpdir(), 'varve-files-'));
const data = join(folder, 'data');
let archive: string;
let server: RunningServer;
let ask: Ask;

function file(id: number, name: string, more: object = {}): object {
  const [hash = '', ext = ''] = name.split('.');
  const facts = {
    name,
    hash,
    ext: `.${ext}`,
    mime: 'image/png',
    size: 0.07,
    url: `/uploads/${name}`,
    provider: 'local',
  };
  const times = { createdAt: AT, updatedAt: AT, publishedAt: AT, locale: null };
  const values = { ...facts, formats: null, provider_metadata: null, folderPath: '/1', ...times, ...more };
  return { type: 'plugin::upload.file', id, data: { documentId: `file${id}`.padEnd(24, '0'), ...values } };
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });
const bytesOf = async (path: string) => Buffer.from(await (await get(path)).arrayBuffer());

beforeAll(async () => {
  const small = {
    hash: 'small_sun_1',
    ext: '.png',
    mime: 'image/png',
    url: '/uploads/small_sun_1.png',
    width: 500,
  };
  archive = await writeArchive(join(folder, 'files.tar.gz'), {
    schemas: [archivedType('page', { cover: { type: 'media', multiple: false } })],
    entities: [
      {
        type: 'api::page.page',
        id: 4,
        data: { documentId: 'page'.padEnd(24, '0'), updatedAt: AT, locale: null },
      },
      file(7, 'sun_1.png', { caption: 'The sun', focalPoint: { x: 1, y: 2 }, formats: { small } }),
      file(8, 'page_2.html', { mime: 'text/html', size: HTML.length / 1000 }),
      file(10, LONG_NAME),
      file(9, 'far_3.png', { url: 'https://cdn.example.org/far_3.png', provider: 'cloudinary' }),
    ],
    links: [
      {
        ...{ kind: 'relation.morph', relation: 'morphToMany' },
        left: { type: 'plugin::upload.file', field: 'related', ref: 7 },
        right: { type: 'api::page.page', field: 'cover', ref: 4, pos: 1 },
      },
    ],
    assets: { [LONG_NAME]: PNG, 'sun_1.png': PNG, 'small_sun_1.png': SMALL, 'page_2.html': HTML },
  });
  const imported = await runVarve(['import', archive, '--data', data]);
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  expect(imported.stdout).toContain('files, with smaller pictures: 4');
  server = await startServer({ data, contentTypes: archive });
  ask = createAsk(server.url);
});
afterAll(async () => {
  await server?.dispose();
  rmSync(folder, { recursive: true });
});

it('serves imported files under their former URLs, and makes caches revalidate', async () => {
  expect(await bytesOf('/uploads/sun_1.png')).toEqual(PNG);
  expect(await bytesOf('/uploads/small_sun_1.png')).toEqual(SMALL);
  expect(await bytesOf(`/uploads/${LONG_NAME}`)).toEqual(PNG);
  const answer = await get('/uploads/sun_1.png');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
  const tag = answer.headers.get('etag') ?? '';
  expect((await get('/uploads/sun_1.png', { 'if-none-match': tag })).status).toBe(304);
  const part = await get('/uploads/sun_1.png', { range: 'bytes=1-3' });
  expect([part.status, await part.text()]).toEqual([206, 'PNG']);
  for (const unknown of ['/uploads/sun_2.png', '/uploads/far_3.png', '/uploads/sun_1'])
    expect((await get(unknown)).status, unknown).toBe(404);
});

it('makes browsers download an imported page instead of opening it', async () => {
  const { headers } = await get('/uploads/page_2.html');
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
  expect(headers.get('content-disposition')).toBe('inline; filename=page_2.html');
  expect(headers.get('content-security-policy')).toContain('sandbox');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

it('returns files as the archive has them, without their folder', async () => {
  const { body } = await ask('/api/pages?populate=cover');
  const [{ cover }] = body.data;
  expect(cover).toMatchObject({
    ...{ id: 7, name: 'sun_1.png', hash: 'sun_1', url: '/uploads/sun_1.png', caption: 'The sun' },
    ...{ focalPoint: { x: 1, y: 2 }, formats: { small: { url: '/uploads/small_sun_1.png', width: 500 } } },
    ...{ provider_metadata: null, createdAt: AT, updatedAt: AT },
  });
  expect(cover).not.toHaveProperty('folderPath');
});

it(
  'finds them in a backup, and reports missing ones',
  takesMinutes('backups of imported files'),
  async () => {
    const backup = join(folder, 'backup');
    const made = await runVarve(['backup', backup, '--data', data]);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const restored = join(folder, 'restored');
    const back = await runVarve(['restore', backup, '--data', restored]);
    expect(back, back.stderr).toMatchObject({ code: 0 });
    const again = await startServer({ data: restored, contentTypes: archive });
    expect(Buffer.from(await (await fetch(`${again.url}/uploads/small_sun_1.png`)).arrayBuffer())).toEqual(
      SMALL,
    );
    await again.dispose();
    const whole = await runVarve(['verify', '--assets', '--data', restored]);
    expect(whole.code, whole.stdout + whole.stderr).toBe(0);
    rmSync(join(restored, 'assets', 'names'), { recursive: true });
    expect((await runVarve(['verify', '--assets', '--data', restored])).code).toBe(1);
  },
);

it('keeps content that an upload shares with an imported file, and forgets names with their file', async () => {
  const form = new FormData();
  form.append('files', new Blob([PNG]), 'copy.png');
  const { body } = await ask('/api/upload', { method: 'POST', body: form });
  expect((await ask(`/api/upload/files/${body[0].id}`, { method: 'DELETE' })).status).toBe(200);
  expect(await bytesOf('/uploads/sun_1.png')).toEqual(PNG);
  const replaced = new FormData();
  replaced.append('files', new Blob([Buffer.concat([PNG, Buffer.from('new')])]), 'new.png');
  expect((await ask('/api/upload?id=7', { method: 'POST', body: replaced })).status).toBe(200);
  for (const gone of ['/uploads/sun_1.png', '/uploads/small_sun_1.png'])
    expect((await get(gone)).status).toBe(404);
  expect((await ask('/api/upload/files/8', { method: 'DELETE' })).status).toBe(200);
  expect((await get('/uploads/page_2.html')).status).toBe(404);
});
