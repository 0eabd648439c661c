import { afterAll, beforeAll, expect, it } from 'vitest';
import { S3_CREDENTIALS, type S3Double, startS3Double } from '../support/s3-double.ts';
import { type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, getJson, postForm, uploadForm } from '../support/upload-client.ts';

let double: S3Double;
let server: RunningServer;
beforeAll(async () => {
  double = await startS3Double();
  server = await startServer({ arguments: ['--assets', double.address], env: S3_CREDENTIALS });
});
afterAll(async () => {
  await server?.dispose();
  await double?.close();
});

/** Returns all objects except the one that names the log of the store. */
const fileNames = () => double.names().filter((name) => name !== 'media/owner.json');

it('keeps uploaded files in the bucket, serves them from there in ranges, and removes them', async () => {
  const bytes = 'x'.repeat(70_000);
  const answer = await postForm(server, uploadForm([{ name: 'long.txt', bytes, type: 'text/plain' }]));
  const [file] = (await answer.json()) as FileAnswer[];
  expect(fileNames()).toEqual([`media/${file!.hash.slice(0, 2)}/${file!.hash}`]);
  expect(await (await fetch(`${server.url}${file!.url}`)).text()).toBe(bytes);
  const part = await fetch(`${server.url}${file!.url}`, { headers: { range: 'bytes=10-19' } });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe('bytes 10-19/70000');
  expect(await part.text()).toBe('x'.repeat(10));
  await fetch(`${server.url}/api/upload/files/${file!.id}`, { method: 'DELETE' });
  expect(fileNames()).toEqual([]);
});

it('answers 503 while the store does not answer, and serves everything else', async () => {
  double.failWith(503);
  const answer = await postForm(server, uploadForm([{ name: 'a.txt', bytes: 'a' }]));
  double.failWith(undefined);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    error: { message: 'The asset store cannot be reached right now' },
  });
  expect(await getJson(server, '/api/upload/files')).toEqual([]);
});

it('does not start without the bucket', takesMinutes('buckets at the start'), async () => {
  const { code, output } = await spawnVarve(
    [
      'serve',
      ...['--content-types', 'test/conformance/schema', '--port', '0'],
      ...['--data', `${server.data}-other`, '--assets', `s3://other?endpoint=${double.endpoint}`],
    ],
    S3_CREDENTIALS,
  ).exited;
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('no bucket other') });
});
