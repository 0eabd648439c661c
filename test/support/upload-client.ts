import { crc32, deflateSync } from 'node:zlib';
import type { RunningServer } from './server.ts';

/** Members of a file's answer that the tests read. */
export type FileAnswer = {
  readonly id: number;
  readonly documentId: string;
  readonly name: string;
  readonly hash: string;
  readonly ext: string;
  readonly mime: string;
  readonly url: string;
  readonly size: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly alternativeText: string | null;
  readonly caption: string | null;
};

export type TestFile = {
  readonly name: string;
  readonly bytes: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
};

export type Fields = Readonly<Record<string, string>>;

/** Returns a form with fields followed by files, as a browser sends it. */
export function uploadForm(files: readonly TestFile[], fields: Fields = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { name, bytes, type = 'application/octet-stream' } of files) {
    form.append('files', new Blob([bytes], { type }), name);
  }
  return form;
}

export function postForm(server: RunningServer, form: FormData, query = ''): Promise<Response> {
  return fetch(`${server.url}/api/upload${query}`, { method: 'POST', body: form });
}

/** Uploads files. Throws the server's answer if it does not accept them. */
export async function upload(
  server: RunningServer,
  files: readonly TestFile[],
  fields: Fields = {},
): Promise<readonly FileAnswer[]> {
  const answer = await postForm(server, uploadForm(files, fields));
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as FileAnswer[];
}

export async function getJson<Body>(server: RunningServer, path: string): Promise<Body> {
  const answer = await fetch(server.url + path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Body;
}

export async function send(
  server: RunningServer,
  method: string,
  path: string,
  data: object,
): Promise<{ readonly status: number; readonly body: { readonly data: Entry; readonly error?: ApiError } }> {
  const answer = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  return { status: answer.status, body: (await answer.json()) as { data: Entry } };
}

export type Entry = { readonly id: number; readonly documentId: string } & Readonly<Record<string, unknown>>;
export type ApiError = { readonly name: string; readonly message: string; readonly details: object };

/** Creates a PNG of one colour. Another `seed` gives other bytes. */
export function png(width: number, height: number, seed = 0): Buffer<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.alloc(1 + width * 3, seed);
  row[0] = 0;
  const pixels = Buffer.concat(Array.from({ length: height }, () => row));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** Creates the beginning of an MP4, up to its first box. */
export function mp4(): Buffer<ArrayBuffer> {
  return Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom\0\0\x02\0isomiso2')]);
}

export const SVG =
  '<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>';
