import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { S3_CREDENTIALS, startS3Double } from '../support/s3-double.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, getJson, postForm, upload, uploadForm } from '../support/upload-client.ts';

const PICTURES = join(import.meta.dirname, '../pictures');

type Format = {
  readonly url: string;
  readonly hash: string;
  readonly sizeInBytes: number;
  readonly size: number;
};
type Formats = { readonly [name: string]: Format };
type Pictured = FileAnswer & { readonly formats: Formats | null };

/** Answers of a real Strapi to uploads of the same files (record.ts). */
const RECORDED = JSON.parse(readFileSync(join(PICTURES, 'strapi-5.54.json'), 'utf8')) as {
  readonly [name: string]: { readonly status: number; readonly body: Pictured };
};

const LONG = takesMinutes('pictures in a bucket, and behind the answer');
/** One file of each kind, for short runs. */
const SOME = [
  'photo.jpg',
  'rotated.jpg',
  'animated.gif',
  'small.webp',
  'modern.avif',
  'viewbox.svg',
  'over-edge.png',
];

/** Strapi 5.54 cannot measure AVIF pictures. */
const UNMEASURED = ['modern.avif'];

const bytesOf = (name: string) => {
  const file = readdirSync(join(PICTURES, 'files')).find((one) => one.normalize() === name) ?? name;
  return readFileSync(join(PICTURES, 'files', file));
};
const picture = (name: string) => ({ name, bytes: bytesOf(name) });
const uploadOne = async (to: RunningServer, name: string) =>
  (await upload(to, [picture(name)]))[0] as Pictured;
const stored = (data: string) =>
  readdirSync(join(data, 'assets'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name),
  );

function formatOf(formats: Formats | null, name: string): Format {
  const format = formats?.[name];
  if (format === undefined) throw new Error(`no ${name} among ${JSON.stringify(formats)}`);
  return format;
}

/** Returns the parts of formats that must be equal on two servers, with their names and sizes. */
function comparable({ hash, url, formats }: Pictured): object | null {
  if (formats === null) return null;
  const name = url.slice(url.lastIndexOf('/') + 1);
  const named = Object.entries(formats).map(([key, { sizeInBytes, size, ...format }]) => [
    key,
    {
      ...format,
      hash: format.hash === `${key}_${hash}` ? 'named after the picture' : format.hash,
      url: format.url === `/uploads/${key}_${name}` ? 'named after the picture' : format.url,
      size: size === Math.round(sizeInBytes / 10) / 100 ? 'of its bytes' : size,
    },
  ]);
  return Object.fromEntries(named);
}

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

describe('formats, as Strapi 5.54 answers them', () => {
  const pictures = Object.entries(RECORDED).filter(
    ([name, { status }]) => status === 201 && (LONG.skip === undefined || SOME.includes(name)),
  );

  it('are those of Strapi in every member, except the encoded bytes', async () => {
    const files = (await upload(
      server,
      pictures.map(([name]) => picture(name)),
    )) as readonly Pictured[];
    for (const [i, [name, { body }]] of pictures.entries()) {
      const file = files[i] as Pictured;
      expect(comparable(file), name).toEqual(comparable(body));
      expect(Object.keys(file.formats ?? {}), name).toEqual(Object.keys(body.formats ?? {}));
      if (!UNMEASURED.includes(name)) {
        expect([file.width, file.height, file.ext, file.mime], name).toEqual([
          ...[body.width, body.height, body.ext, body.mime],
        ]);
      }
    }
  });

  it('have the size that they name, and the frames and rotation of the picture', async () => {
    for (const [name, frames, orientation] of [
      ['animated.gif', 3, undefined],
      ['rotated.jpg', undefined, 6],
    ] as const) {
      const { formats } = await uploadOne(server, name);
      for (const { url, sizeInBytes } of Object.values(formats ?? {})) {
        const answer = await fetch(server.url + url);
        const bytes = Buffer.from(await answer.arrayBuffer());
        expect([answer.status, bytes.length], url).toEqual([200, sizeInBytes]);
        const head = await sharp(bytes, { animated: true }).metadata();
        expect([head.pages, head.orientation], url).toEqual([frames, orientation]);
      }
    }
  });

  it('refuses a damaged picture with the message of Strapi, and keeps nothing of it', async () => {
    const before = stored(server.data).length;
    const answer = await postForm(server, uploadForm([picture('broken.png')]));
    const { status, body } = RECORDED['broken.png'] as { status: number; body: object };
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ ...body, error: { details: expect.anything() } });
    expect(stored(server.data)).toHaveLength(before);
  });
});

describe('/uploads of formats', () => {
  it('may be cached permanently, and support ranges and conditions', async () => {
    const { formats } = await uploadOne(server, 'photo.jpg');
    const { url, sizeInBytes } = formatOf(formats, 'small');
    const answer = await fetch(server.url + url, { headers: { range: 'bytes=-10' } });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${sizeInBytes - 10}-${sizeInBytes - 1}/${sizeInBytes}`,
    ]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'image/jpeg',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    });
    const again = await fetch(server.url + url, {
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });

  it('are removed with the last file that has the picture', async () => {
    const [one, two] = [await uploadOne(server, 'tall.jpg'), await uploadOne(server, 'tall.jpg')];
    const { url } = formatOf(one.formats, 'thumbnail');
    const statusAfterRemoving = async (file: FileAnswer) => {
      await fetch(`${server.url}/api/upload/files/${file.id}`, { method: 'DELETE' });
      return (await fetch(server.url + url)).status;
    };
    expect(two.formats).toEqual(one.formats);
    const files = await getJson<readonly FileAnswer[]>(server, `/api/upload/files?filters[name]=tall.jpg`);
    const statuses = [];
    for (const file of files) statuses.push(await statusAfterRemoving(file));
    expect(statuses).toEqual(files.map((_, i) => (i === files.length - 1 ? 404 : 200)));
  });

  it('belong to the new content after a replacement', async () => {
    const { id, formats: before } = await uploadOne(server, 'wide.webp');
    const answer = await postForm(server, uploadForm([picture('small.webp')]), `?id=${id}`);
    const { formats } = (await answer.json()) as Pictured;
    expect(Object.keys(formats ?? {})).toEqual(['thumbnail']);
    expect(formats?.['thumbnail']?.hash).not.toBe(before?.['thumbnail']?.hash);
    const plain = await postForm(server, uploadForm([picture('tiny.png')]), `?id=${id}`);
    expect(await plain.json()).toMatchObject({ formats: null });
  });
});

it(
  'refuses pictures with too many pixels before decoding, counting all frames',
  takesMinutes('pictures of too many pixels'),
  async () => {
    const limited = await startServer({ arguments: ['--picture-pixels', '300000'] });
    onTestFinished(() => limited.dispose());
    const refused = async (name: string) => {
      const answer = await postForm(limited, uploadForm([picture(name)]));
      return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
    };
    const more = 'which is more than --picture-pixels allows';
    expect(await refused('photo.jpg')).toEqual([413, `photo.jpg has 1600 x 1200 pixels, ${more}`]);
    expect(await refused('animated.gif')).toEqual([
      413,
      `animated.gif has 600 x 400 pixels in each of 3 frames, ${more}`,
    ]);
    expect((await uploadOne(limited, 'still.gif')).formats).toHaveProperty('small');
    expect(stored(limited.data)).not.toHaveLength(0);
  },
);

it('are made after the answer if the setting says so', LONG, async () => {
  const late = await startServer({ arguments: ['--picture-formats', 'after'] });
  onTestFinished(() => late.dispose());
  const { id, formats } = await uploadOne(late, 'photo.jpg');
  expect(formats).toBeNull();
  const current = async () => (await getJson<Pictured>(late, `/api/upload/files/${id}`)).formats;
  await expect.poll(current, { timeout: 20_000 }).toHaveProperty('thumbnail');
});

it('are stored in a bucket too, and removed from it', LONG, async () => {
  const double = await startS3Double();
  onTestFinished(() => double.close());
  const bucket = await startServer({ arguments: ['--assets', double.address], env: S3_CREDENTIALS });
  onTestFinished(() => bucket.dispose());
  const { id, formats } = await uploadOne(bucket, 'small.webp');
  const { url, sizeInBytes } = formatOf(formats, 'thumbnail');
  expect((await (await fetch(bucket.url + url)).arrayBuffer()).byteLength).toBe(sizeInBytes);
  await fetch(`${bucket.url}/api/upload/files/${id}`, { method: 'DELETE' });
  expect(double.names()).toEqual(['media/owner.json']);
});
