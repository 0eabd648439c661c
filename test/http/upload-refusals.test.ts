import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import {
  type ApiError,
  type Entry,
  type Fields,
  getJson,
  mp4,
  png,
  postForm,
  send,
  type TestFile,
  upload,
  uploadForm,
} from '../support/upload-client.ts';

let server: RunningServer;
let restaurant: Entry;
beforeAll(async () => {
  server = await startServer({
    env: { VARVE_UPLOAD_LIMIT: '50000', VARVE_UPLOAD_TYPES: 'image/*,text/plain,video/mp4' },
  });
  const { body } = await send(server, 'POST', '/api/restaurants', { key: 'r', name: 'Chez Nous' });
  restaurant = body.data;
});
afterAll(() => server?.dispose());

const TEXT = { name: 'a.txt', bytes: 'text' };

/** Files that are not content: the owner of the store, and the locks of processes. */
const NO_CONTENT = /^owner\.json$|\.lock(-\w+)?$/;

/** Returns the names of all content in the asset store, finished or not. */
function storedFiles(): string[] {
  const entries = readdirSync(join(server.data, 'assets'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !NO_CONTENT.test(entry.name)).map(({ name }) => name);
}

async function refused(files: readonly TestFile[], fields: Fields = {}, query = '') {
  const answer = await postForm(server, uploadForm(files, fields), query);
  const { error } = (await answer.json()) as { error: ApiError };
  expect(storedFiles()).toEqual([]);
  expect(await getJson(server, '/api/upload/files')).toEqual([]);
  return { status: answer.status, name: error.name, message: error.message };
}

describe('a refused form leaves nothing behind', () => {
  it('without files', async () => {
    expect(await refused([])).toMatchObject({ status: 400, message: 'Files are empty' });
  });

  it('with an empty file', async () => {
    expect(await refused([TEXT, { name: 'e.txt', bytes: '' }])).toMatchObject({
      status: 400,
      message: 'Files are empty',
    });
  });

  it('with a file over the limit, also between other files', async () => {
    const large = { name: 'large.txt', bytes: 'x'.repeat(50_001) };
    expect(await refused([TEXT, large, TEXT])).toEqual({
      status: 413,
      name: 'PayloadTooLargeError',
      message: 'large.txt exceeds size limit of 50000 bytes.',
    });
  });

  it('with a type that is not allowed, by its bytes and not by its name', async () => {
    const pdf = { name: 'picture.png', bytes: '%PDF-1.7\n%%EOF', type: 'image/png' };
    expect(await refused([TEXT, pdf])).toEqual({
      status: 415,
      name: 'UnsupportedMediaTypeError',
      message: 'picture.png is of type application/pdf, which is not allowed',
    });
  });

  it.each<[string, Fields, string]>([
    ['fileInfo that is not JSON', { fileInfo: '{' }, 'fileInfo is not valid JSON'],
    ['an unknown key in fileInfo', { fileInfo: '{"hash":"x"}' }, 'fileInfo: Unrecognized key: "hash"'],
    ['an unknown field', { folderPath: '/' }, 'Invalid key folderPath'],
    ['ref alone', { ref: 'api::restaurant.restaurant' }, 'Invalid refId: undefined'],
    ['an unknown ref', { ref: 'api::nope.nope', refId: 'x', field: 'logo' }, 'Invalid ref: "api::nope.nope"'],
    [
      'an unknown entry',
      { ref: 'api::restaurant.restaurant', refId: '4711', field: 'logo' },
      'Invalid refId: "4711"',
    ],
  ])('with %s', async (_, fields, message) => {
    expect(await refused([TEXT], fields)).toEqual({ status: 400, name: 'ValidationError', message });
  });

  it.each(['name', 'nope', 'category', '__proto__', 'secretPin'])(
    'with the field %s, which is not a media attribute',
    async (field) => {
      const fields = { ref: 'api::restaurant.restaurant', refId: restaurant.documentId, field };
      expect(await refused([TEXT], fields)).toMatchObject({
        status: 400,
        message: `Invalid field: "${field}"`,
      });
    },
  );

  it('with a kind of file that the attribute does not accept', async () => {
    const fields = { ref: 'api::restaurant.restaurant', refId: restaurant.documentId, field: 'logo' };
    expect(await refused([{ name: 'film.mp4', bytes: mp4() }], fields)).toMatchObject({
      status: 400,
      message: 'logo accepts only images, files: film.mp4 is of type video/mp4',
    });
  });

  it('with two files for an attribute of one', async () => {
    const fields = { ref: 'api::restaurant.restaurant', refId: restaurant.documentId, field: 'logo' };
    expect(await refused([TEXT, { name: 'b.txt', bytes: 'b' }], fields)).toMatchObject({
      status: 400,
      message: 'logo accepts one file',
    });
  });

  it('when the link itself is refused', async () => {
    const fields = { ref: 'api::restaurant.restaurant', refId: restaurant.documentId, field: 'logo' };
    const answer = await refused([TEXT], fields, '?status=nonsense');
    expect(answer).toMatchObject({ status: 400, message: expect.stringContaining("'status'") });
  });

  it('when the file to be changed does not exist', async () => {
    expect(await refused([TEXT], {}, '?id=4711')).toMatchObject({ status: 404, message: 'file.notFound' });
    expect(await refused([], { fileInfo: '{}' }, '?id=4711')).toMatchObject({ status: 404 });
    expect(await refused([TEXT], {}, '?id=')).toMatchObject({ status: 400 });
  });

  it('with files under another name', async () => {
    const form = new FormData();
    form.append('upload', new Blob(['x']), 'x.txt');
    const answer = await postForm(server, form);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: 'Invalid key upload' } });
    expect(storedFiles()).toEqual([]);
  });
});

/** Sends a form as raw text over a new socket. Resolves to the answer when the connection is closed. */
function sendRaw(parts: readonly string[], headers: string, end: 'wait' | 'destroy'): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  socket.write(`POST /api/upload HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${headers}\r\n\r\n`);
  for (const part of parts) socket.write(part);
  if (end === 'destroy') setTimeout(() => socket.destroy(), 200);
  return new Promise((resolve) => socket.on('close', () => resolve(answer)));
}

const MULTIPART = 'content-type: multipart/form-data; boundary=b';
const filePart = (name: string, text: string) =>
  `--b\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n${text}`;

const unnamedPart = (headers: string) =>
  `--b\r\ncontent-disposition: form-data; name="files"\r\n${headers}\r\ntext\r\n--b--\r\n`;

describe('a form that is cut off', () => {
  it('leaves nothing of the incomplete file, nor of the files before it', async () => {
    const parts = [`${filePart('whole.txt', 'whole')}\r\n`, filePart('half.txt', 'half of')];
    await sendRaw(parts, `${MULTIPART}\r\ncontent-length: 100000`, 'destroy');
    await expect.poll(storedFiles).toEqual([]);
    expect(await getJson(server, '/api/upload/files')).toEqual([]);
    expect((await fetch(`${server.url}/_health`)).status).toBe(204);
  });

  it.each([
    ['ends without its last boundary', filePart('half.txt', 'half of')],
    ['has no part at all', '--b--\r\n'],
    ['is empty', ''],
    ['is not a form', 'hello'],
    ['has a file without a name', unnamedPart('content-type: application/octet-stream\r\n')],
    ['has a file without a name and a type', unnamedPart('')],
    ['has a text in place of a file', unnamedPart('content-type: text/plain\r\n')],
  ])('a form that %s is a 400', async (_, body) => {
    const answer = await sendRaw([body], `${MULTIPART}\r\ncontent-length: ${body.length}`, 'wait');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(storedFiles()).toEqual([]);
  });

  it('without a boundary is a 400', async () => {
    const answer = await sendRaw(['x'], 'content-type: multipart/form-data\r\ncontent-length: 1', 'wait');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('over the limit is answered while it is still being sent', async () => {
    const parts = [filePart('large.txt', 'x'.repeat(60_000)), 'y'.repeat(400_000), '\r\n--b--\r\n'];
    const length = parts.join('').length;
    const answer = await sendRaw(parts, `${MULTIPART}\r\ncontent-length: ${length}`, 'wait');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(storedFiles()).toEqual([]);
  });
});

describe('methods and bodies', () => {
  it('a form is accepted only at /api/upload', async () => {
    const form = new FormData();
    form.append('data', '{}');
    const answer = await fetch(`${server.url}/api/restaurants`, { method: 'POST', body: form });
    expect(answer.status).toBe(415);
  });

  it.each([
    ['GET', '/api/upload', 'POST, OPTIONS'],
    ['POST', '/api/upload/files', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/upload/files/1', 'GET, DELETE, HEAD, OPTIONS'],
  ])('%s %s is a 405', async (method, path, allow) => {
    const answer = await fetch(server.url + path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });
});

describe('media attributes', () => {
  it('are written only with files that they accept, also by PUT', async () => {
    const [film] = await upload(server, [{ name: 'film.mp4', bytes: mp4() }]);
    const [picture] = await upload(server, [{ name: 'p.png', bytes: png(1, 1) }]);
    const path = `/api/restaurants/${restaurant.documentId}`;
    const wrong = await send(server, 'PUT', path, { gallery: [picture!.id, film!.id] });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toMatchObject({
      message: 'gallery accepts only images, files: found a file of type video/mp4',
      details: { path: 'gallery', found: 'video/mp4', accepted: ['images', 'files'] },
    });
    const right = await send(server, 'PUT', path, { gallery: { connect: [picture!.documentId] } });
    expect(right.status).toBe(200);
  });

  it('keep the kind of file that they were linked with', async () => {
    const [picture] = await upload(server, [{ name: 'p.png', bytes: png(1, 2) }]);
    const form = uploadForm([{ name: 'film.mp4', bytes: mp4() }]);
    const answer = await postForm(server, form, `?id=${picture!.id}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { message: "A file of the kind 'images' can only be replaced by a file of the same kind" },
    });
  });
});
