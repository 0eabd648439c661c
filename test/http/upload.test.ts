import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import {
  type Entry,
  type FileAnswer,
  getJson,
  png,
  postForm,
  SVG,
  send,
  upload,
  uploadForm,
} from '../support/upload-client.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

const RESTAURANT = 'api::restaurant.restaurant';

let keys = 0;
async function createRestaurant(status: 'draft' | 'published' = 'published'): Promise<Entry> {
  keys += 1;
  const data = { key: `upload-${keys}`, name: `Restaurant ${keys}` };
  const { body } = await send(server, 'POST', `/api/restaurants?status=${status}`, data);
  return body.data;
}

const galleryOf = async (documentId: string, status: string) => {
  const path = `/api/restaurants/${documentId}?status=${status}&populate=gallery&fields=name`;
  const { data } = await getJson<{ data: { gallery: FileAnswer[] } }>(server, path);
  return data.gallery.map(({ name }) => name);
};

describe('POST /api/upload', () => {
  it('answers 201 with each file as stored', async () => {
    const picture = png(7, 5);
    const answer = await postForm(
      server,
      uploadForm([
        { name: 'Café näher.png', bytes: picture, type: 'image/png' },
        { name: 'notes.md', bytes: '# Notes\n' },
      ]),
    );
    expect(answer.status).toBe(201);
    expect(answer.headers.get('varve-position')).toMatch(/^\d+$/);
    const hash = createHash('sha256').update(picture).digest('hex');
    const [first, second, ...more] = (await answer.json()) as FileAnswer[];
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      id: expect.any(Number),
      documentId: expect.stringMatching(/^[a-z0-9]{24}$/),
      name: 'Café näher.png',
      hash,
      ext: '.png',
      mime: 'image/png',
      width: 7,
      height: 5,
      size: Math.round(picture.length / 10) / 100,
      url: expect.stringMatching(/^\/uploads\/[0-9a-f]{64}\.png$/),
      alternativeText: null,
      caption: null,
      formats: null,
      provider: 'local',
      createdAt: expect.stringMatching(/Z$/),
    });
    // The hash of the content is not enough to find out whether a file is stored.
    expect((await fetch(`${server.url}/uploads/${hash}.png`)).status).toBe(404);
    expect((await fetch(server.url + first?.url)).status).toBe(200);
    expect(second).toMatchObject({ name: 'notes.md', ext: '.md', mime: 'text/markdown', width: null });
  });

  it('accepts fileInfo as one JSON text for each file', async () => {
    const infos = [{ caption: 'a' }, { alternativeText: 'b', name: 'renamed.txt' }];
    const form = uploadForm([
      { name: '1.txt', bytes: 'one' },
      { name: '2.txt', bytes: 'two' },
    ]);
    for (const info of infos) form.append('fileInfo', JSON.stringify(info));
    const files = (await (await postForm(server, form)).json()) as FileAnswer[];
    expect(files.map(({ name, caption, alternativeText }) => [name, caption, alternativeText])).toEqual([
      ['1.txt', 'a', null],
      ['renamed.txt', null, 'b'],
    ]);
  });

  it('accepts fileInfo as one list too', async () => {
    const fileInfo = JSON.stringify([{ caption: 'x' }, { focalPoint: { x: 10, y: 90 } }]);
    const files = await upload(
      server,
      [
        { name: '1.txt', bytes: 'l1' },
        { name: '2.txt', bytes: 'l2' },
      ],
      { fileInfo },
    );
    expect(files).toMatchObject([{ caption: 'x' }, { focalPoint: { x: 10, y: 90 } }]);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['..', 'file'],
    ['a/b/../c.txt', 'c.txt'],
  ])('shows the name %j as %j, and stores the content under its hash', async (given, shown) => {
    const [file] = await upload(server, [{ name: given, bytes: `content of ${given}` }]);
    expect(file).toMatchObject({
      name: shown,
      ext: '.txt',
      url: expect.stringMatching(/^\/uploads\/[0-9a-f]{64}\.txt$/),
    });
    expect(await (await fetch(server.url + file!.url)).text()).toBe(`content of ${given}`);
  });

  it.each([
    [
      'an HTML page called .png',
      { name: 'a.png', bytes: '<!doctype html><p>hi', type: 'image/png' },
      '.txt',
      'text/plain',
    ],
    [
      'an HTML page',
      { name: 'a.txt', bytes: '<!DOCTYPE html>\n<HTML lang="en"><p>hi' },
      '.html',
      'text/html',
    ],
    ['SVG called .txt', { name: 'a.txt', bytes: SVG, type: 'text/plain' }, '.svg', 'image/svg+xml'],
    ['a picture called .html', { name: 'a.html', bytes: png(1, 1), type: 'text/html' }, '.png', 'image/png'],
    ['a script', { name: 'a.js', bytes: 'alert(1)', type: 'text/javascript' }, '.txt', 'text/plain'],
    [
      'bytes of no format',
      { name: 'a.png', bytes: Buffer.from([0, 1, 2, 3]), type: 'image/png' },
      '.bin',
      'application/octet-stream',
    ],
    ['XML', { name: 'a.gpx', bytes: '<?xml version="1.0"?><gpx/>' }, '.xml', 'application/xml'],
    ['a table', { name: 'a.CSV', bytes: 'a,b\n1,2\n' }, '.csv', 'text/csv'],
  ])('detects %s by the bytes', async (_, file, ext, mime) => {
    expect(await upload(server, [file])).toMatchObject([{ ext, mime }]);
  });

  it('measures SVG', async () => {
    expect(await upload(server, [{ name: 'a.svg', bytes: SVG }])).toMatchObject([{ width: 30, height: 20 }]);
  });
});

describe('linking', () => {
  it('links files with a published entry in both worlds, in order, after the existing ones', async () => {
    const { documentId } = await createRestaurant();
    const link = { ref: RESTAURANT, refId: documentId, field: 'gallery' };
    await upload(server, [{ name: 'a.png', bytes: png(1, 1, 1) }], link);
    await upload(
      server,
      [
        { name: 'c.png', bytes: png(1, 1, 2) },
        { name: 'b.png', bytes: png(1, 1, 3) },
      ],
      link,
    );
    expect(await galleryOf(documentId, 'published')).toEqual(['a.png', 'c.png', 'b.png']);
    expect(await galleryOf(documentId, 'draft')).toEqual(['a.png', 'c.png', 'b.png']);
  });

  it('does not change the published row when the id of the draft row is given', async () => {
    const { documentId } = await createRestaurant();
    const { data } = await getJson<{ data: Entry }>(server, `/api/restaurants/${documentId}?status=draft`);
    const link = { ref: RESTAURANT, refId: String(data.id), field: 'gallery' };
    await upload(server, [{ name: 'd.png', bytes: png(1, 1, 4) }], link);
    expect(await galleryOf(documentId, 'draft')).toEqual(['d.png']);
    expect(await galleryOf(documentId, 'published')).toEqual([]);
  });

  it('does not publish pending edits of the draft', async () => {
    const { documentId } = await createRestaurant();
    await send(server, 'PUT', `/api/restaurants/${documentId}?status=draft`, { name: 'being edited' });
    await upload(server, [{ name: 'e.png', bytes: png(1, 1, 5) }], {
      ref: RESTAURANT,
      refId: documentId,
      field: 'logo',
    });
    const { data } = await getJson<{ data: Entry }>(server, `/api/restaurants/${documentId}?populate=logo`);
    expect(data['name']).not.toBe('being edited');
    expect(data['logo']).toBeNull();
    const draft = await getJson<{ data: { logo: FileAnswer } }>(
      server,
      `/api/restaurants/${documentId}?populate=logo&status=draft`,
    );
    expect(draft.data.logo.name).toBe('e.png');
  });

  it('a later single file replaces the previous one', async () => {
    const { documentId } = await createRestaurant();
    const link = { ref: RESTAURANT, refId: documentId, field: 'logo' };
    await upload(server, [{ name: 'old.png', bytes: png(1, 1, 6) }], link);
    await upload(server, [{ name: 'new.png', bytes: png(1, 1, 7) }], link);
    const { data } = await getJson<{ data: { logo: FileAnswer } }>(
      server,
      `/api/restaurants/${documentId}?populate=logo`,
    );
    expect(data.logo.name).toBe('new.png');
  });

  it('links by a later PUT, and deleting the file removes the link', async () => {
    const { documentId } = await createRestaurant();
    const [file] = await upload(server, [{ name: 'put.png', bytes: png(1, 1, 8) }]);
    const put = await send(server, 'PUT', `/api/restaurants/${documentId}`, { logo: file!.id });
    expect(put.status).toBe(200);
    const path = `/api/restaurants?filters[logo][name]=put.png`;
    const before = await getJson<{ data: Entry[] }>(server, path);
    expect(before.data.map((entry) => entry.documentId)).toEqual([documentId]);
    await fetch(`${server.url}/api/upload/files/${file!.id}`, { method: 'DELETE' });
    expect((await getJson<{ data: Entry[] }>(server, path)).data).toEqual([]);
  });

  it('filters, sorts and populates by attributes of files', async () => {
    const [tall, none] = [await createRestaurant(), await createRestaurant()];
    await upload(server, [{ name: 'tall.png', bytes: png(3, 999) }], {
      ref: RESTAURANT,
      refId: tall.documentId,
      field: 'logo',
    });
    const names = async (query: string) => {
      const { data } = await getJson<{ data: Entry[] }>(server, `/api/restaurants?${query}`);
      return data.map(({ documentId }) => documentId);
    };
    expect(await names('filters[logo][ext]=.png&filters[logo][height][$gt]=900')).toEqual([tall.documentId]);
    expect(await names('filters[logo][ext]=.jpg')).toEqual([]);
    expect(await names(`filters[logo][$null]=true&filters[name]=${none['name']}`)).toEqual([none.documentId]);
    expect((await names('sort=logo.height:desc&filters[logo][height][$notNull]=true'))[0]).toBe(
      tall.documentId,
    );
    const { data } = await getJson<{ data: { logo: object }[] }>(
      server,
      '/api/restaurants?filters[logo][height]=999&populate[logo][fields]=name,url',
    );
    expect(Object.keys(data[0]!.logo)).toEqual(['id', 'documentId', 'name', 'url']);
  });
});

describe('/api/upload/files', () => {
  it('has a bare list, with the filters, sorts and fields of every list', async () => {
    await upload(server, [
      { name: 'list-b.txt', bytes: 'list b' },
      { name: 'list-a.txt', bytes: 'list a' },
    ]);
    const path = '/api/upload/files?filters[name][$startsWith]=list-&sort=name&fields[0]=name';
    const files = await getJson<FileAnswer[]>(server, path);
    expect(files).toEqual([
      { id: expect.any(Number), documentId: expect.any(String), name: 'list-a.txt' },
      { id: expect.any(Number), documentId: expect.any(String), name: 'list-b.txt' },
    ]);
    const second = await getJson<FileAnswer[]>(server, `${path}&pagination[page]=2&pagination[pageSize]=1`);
    expect(second.map(({ name }) => name)).toEqual(['list-b.txt']);
  });

  it('skips and limits files as Strapi does, and ignores unknown parameters', async () => {
    await upload(
      server,
      ['a', 'b', 'c'].map((name) => ({ name: `cut-${name}.txt`, bytes: `cut ${name}` })),
    );
    const names = async (query: string) => {
      const path = `/api/upload/files?filters[name][$startsWith]=cut-&sort=name${query}`;
      return (await getJson<FileAnswer[]>(server, path)).map(({ name }) => name.slice(4, 5)).join('');
    };
    expect(await names('&start=1&limit=1')).toBe('b');
    expect(await names('&limit=2')).toBe('ab');
    expect(await names('&start=1')).toBe('bc');
    expect(await names('&page=2&folder=3')).toBe('abc');
  });

  it('lists all files of several pages', async () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ name: `many-${i}.txt`, bytes: `many ${i}` }));
    await upload(server, many);
    const files = await getJson<FileAnswer[]>(server, '/api/upload/files?filters[name][$startsWith]=many-');
    expect(files.map(({ name }) => name)).toEqual(many.map(({ name }) => name));
  });

  it('returns one file by id and by documentId', async () => {
    const [file] = await upload(server, [{ name: 'one.txt', bytes: 'one of them' }]);
    expect(await getJson(server, `/api/upload/files/${file!.id}`)).toEqual(file);
    expect(await getJson(server, `/api/upload/files/${file!.documentId}`)).toEqual(file);
  });

  it('refuses unknown keys as every list does', async () => {
    const answer = await fetch(`${server.url}/api/upload/files?filters[nope]=1`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: 'Invalid key nope' } });
  });
});

describe('changing a file', () => {
  it.each(['id', 'documentId'] as const)('replaces its information, found by its %s', async (name) => {
    const [file] = await upload(server, [{ name: 'info.txt', bytes: `info by ${name}` }]);
    const form = new FormData();
    form.append('fileInfo', JSON.stringify({ caption: 'new', name: 'other.txt' }));
    const answer = await postForm(server, form, `?id=${file![name]}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      id: file!.id,
      caption: 'new',
      name: 'other.txt',
      url: file!.url,
    });
  });

  it('takes fileInfo as JSON too', async () => {
    const [file] = await upload(server, [{ name: 'json.txt', bytes: 'json info' }], {
      fileInfo: JSON.stringify({ caption: 'before', alternativeText: 'stays' }),
    });
    const answer = await fetch(`${server.url}/api/upload?id=${file!.id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ fileInfo: { caption: null } }),
    });
    expect(await answer.json()).toMatchObject({ caption: null, alternativeText: 'stays' });
  });

  it('replaces its content, and removes the old content', async () => {
    const [file] = await upload(server, [{ name: 'v1.png', bytes: png(1, 1, 20) }]);
    const answer = await postForm(
      server,
      uploadForm([{ name: 'v2.png', bytes: png(2, 3, 21) }]),
      `?id=${file!.id}`,
    );
    expect(answer.status).toBe(200);
    const replaced = (await answer.json()) as FileAnswer;
    expect(replaced).toMatchObject({
      id: file!.id,
      documentId: file!.documentId,
      name: 'v2.png',
      width: 2,
      height: 3,
    });
    expect((await fetch(server.url + replaced.url)).status).toBe(200);
    expect((await fetch(server.url + file!.url)).status).toBe(404);
  });
});

describe('deleting', () => {
  it('answers the deleted file; then it is gone', async () => {
    const [file] = await upload(server, [{ name: 'gone.txt', bytes: 'gone soon' }]);
    const answer = await fetch(`${server.url}/api/upload/files/${file!.id}`, { method: 'DELETE' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(file);
    expect((await fetch(`${server.url}/api/upload/files/${file!.id}`)).status).toBe(404);
    expect((await fetch(server.url + file!.url)).status).toBe(404);
  });

  it('content that another file has stays until that file is deleted', async () => {
    const bytes = 'had by two';
    const [[first], [second]] = [
      await upload(server, [{ name: '1.txt', bytes }]),
      await upload(server, [{ name: '2.txt', bytes }]),
    ];
    expect(second).toMatchObject({ hash: first!.hash, url: first!.url });
    await fetch(`${server.url}/api/upload/files/${first!.id}`, { method: 'DELETE' });
    expect(await (await fetch(server.url + second!.url)).text()).toBe(bytes);
    await fetch(`${server.url}/api/upload/files/${second!.id}`, { method: 'DELETE' });
    expect((await fetch(server.url + second!.url)).status).toBe(404);
  });

  it('the same content, uploaded and deleted concurrently, exists as long as a file has it, and no longer', async () => {
    const bytes = 'contended';
    const names = Array.from({ length: 12 }, (_, i) => `${i}.txt`);
    await Promise.all(
      names.map(async (name) => {
        const [file] = await upload(server, [{ name, bytes }]);
        expect((await fetch(server.url + file!.url)).status).toBe(200);
        await fetch(`${server.url}/api/upload/files/${file!.id}`, { method: 'DELETE' });
      }),
    );
    const [last] = await upload(server, [{ name: 'last.txt', bytes }]);
    expect(await (await fetch(server.url + last!.url)).text()).toBe(bytes);
  });
});
