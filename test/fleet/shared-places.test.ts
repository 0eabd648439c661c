import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runVarve } from '../support/run-varve.ts';
import { S3_CREDENTIALS, type S3Double, startS3Double } from '../support/s3-double.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, postForm, uploadForm } from '../support/upload-client.ts';

/** A server with its uploaded files in a bucket, and copies of it with the same settings. */
const folder = createDataDirectory();
let bucket: S3Double;
let original: RunningServer;
let file: FileAnswer;
const start = (data: string, ...more: readonly string[]) =>
  startServer({ data, arguments: ['--assets', bucket.address, ...more], env: S3_CREDENTIALS });
beforeAll(async () => {
  bucket = await startS3Double();
  original = await start(join(folder, 'original'));
  const answer = await postForm(
    original,
    uploadForm([{ name: 'kept.txt', bytes: 'kept', type: 'text/plain' }]),
  );
  file = ((await answer.json()) as FileAnswer[])[0] as FileAnswer;
}, 300_000);
afterAll(async () => {
  await original?.dispose();
  await bucket?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server that must refuse to start. Resolves to its output. */
async function refused(data: string): Promise<string> {
  const args = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--port', '0', '--data', data];
  const { code, output } = await spawnVarve([...args, '--assets', bucket.address], S3_CREDENTIALS).exited;
  expect(code, output).toBe(1);
  return output;
}

async function succeed(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runVarve(args, S3_CREDENTIALS);
  expect(code, stdout + stderr).toBe(0);
}

const stored = () => bucket.names().some((name) => name.endsWith(file.hash));

it('are refused to a restored copy and to a copied directory, and stay unchanged', {
  ...takesMinutes('who owns uploaded files'),
  timeout: 300_000,
}, async () => {
  const [backup, restored, copied] = ['backup', 'restored', 'copied'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await succeed('backup', backup, '--data', original.data, '--assets', bucket.address);
  await succeed('restore', backup, '--data', restored, '--assets', bucket.address);
  cpSync(original.data, copied, { recursive: true });
  for (const data of [restored, copied]) {
    const said = await refused(data);
    expect(said).toContain(
      'Varve does not write to the uploaded files in s3://assets/media: they belong to the log',
    );
    expect(said).toContain('--adopt');
  }
  expect((await fetch(original.url + file.url)).status).toBe(200);
});

it('belong to the copy after --adopt: the original deletes nothing there and does not start', {
  ...takesMinutes('who owns uploaded files'),
  timeout: 300_000,
}, async () => {
  const adopting = join(folder, 'adopting');
  await succeed('export', `${adopting}.jsonl`, '--data', original.data);
  await succeed('import', `${adopting}.jsonl`, '--data', adopting);
  expect(await refused(adopting)).toContain('belong to the log');
  const copy = await start(adopting, '--adopt');
  const deleted = await fetch(`${original.url}/api/upload/files/${file.id}`, { method: 'DELETE' });
  expect(deleted.status).toBe(503);
  expect(stored()).toBe(true);
  expect((await fetch(copy.url + file.url)).status).toBe(200);
  await original.stop();
  expect(await refused(original.data)).toContain('belong to the log');
  // After the adoption, the copy starts without --adopt.
  await copy.stop();
  await (await start(adopting)).dispose();
});

it('are refused to the original if its copy came first, since no log can know which one is the copy', {
  ...takesMinutes('who owns uploaded files'),
  timeout: 300_000,
}, async () => {
  const [first, copied] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
  const place = bucket.address.replace('/media?', '/another?');
  const serve = (data: string) => startServer({ data, arguments: ['--assets', place], env: S3_CREDENTIALS });
  await (await serve(first)).stop();
  cpSync(first, copied, { recursive: true });
  await (await serve(copied)).stop();
  const args = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--port', '0', '--data', first];
  const { code, output } = await spawnVarve([...args, '--assets', place], S3_CREDENTIALS).exited;
  expect(code).toBe(1);
  expect(output).toContain('another copy of this log');
});

it('keep the files that two namespaces share, until one namespace is the only owner', {
  ...takesMinutes('who owns uploaded files'),
  timeout: 300_000,
}, async () => {
  const place = join(folder, 'common');
  const eventStore = `sqlite:${join(folder, 'common.db')}`;
  const serve = (space: string, ...more: readonly string[]) =>
    startServer({
      data: join(folder, `of-${space}`),
      arguments: ['--event-store', eventStore, '--space', space, '--assets', place, ...more],
    });
  const upload = async (server: RunningServer) => {
    const answer = await postForm(
      server,
      uploadForm([{ name: 'same.txt', bytes: 'same', type: 'text/plain' }]),
    );
    return ((await answer.json()) as FileAnswer[])[0] as FileAnswer;
  };
  const [one, two] = [await serve('one'), await serve('two')];
  const [mine, other] = [await upload(one), await upload(two)];
  const remove = (server: RunningServer, { id }: FileAnswer) =>
    fetch(`${server.url}/api/upload/files/${id}`, { method: 'DELETE' });
  expect((await remove(one, mine)).status).toBe(200);
  expect(await (await fetch(two.url + other.url)).text()).toBe('same');
  await one.stop();
  await two.stop();
  const sole = await serve('two', '--adopt');
  expect((await remove(sole, other)).status).toBe(200);
  expect(existsSync(join(place, other.hash.slice(0, 2), other.hash))).toBe(false);
  await sole.dispose();
});
