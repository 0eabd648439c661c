import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { findWords } from '../support/find-words.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { runVarve } from '../support/run-varve.ts';
import type { RunningServer } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Erasures that are refused, because the document would stay somewhere or come back, and what an operator does then. */

const TYPE = 'api::tag.tag';
const PATH = '/api/tags';
const WORD = 'Quixotellix';
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

type Document = { readonly documentId: string };

function clientOf({ url }: Pick<RunningServer, 'url'>) {
  const { call, data } = createApiClient(url);
  return {
    data,
    create: async (name: string) =>
      (await data<Document>('POST', PATH, { data: { key: name, name } })).documentId,
    list: () => data<readonly object[]>('GET', `${PATH}?sort=key&populate=*`),
    erase: (documentId: string, confirm?: number) =>
      call<{ readonly erased: boolean }>('POST', '/_varve/erasures', {
        data: { type: TYPE, documentId, ...(confirm === undefined ? {} : { confirm }) },
      }),
  };
}

it('a copy of the log from before an upgrade refuses an erasure until it is removed', async () => {
  const data = dataForTest();
  const { create, erase } = clientOf(await startForTest({ data }));
  const documentId = await create(WORD);
  const copy = join(data, 'events.db.before-upgrade');
  writeFileSync(copy, WORD);
  expect(await erase(documentId)).toMatchObject({ status: 200, data: { erased: false } });
  expect(await erase(documentId, 1)).toMatchObject({
    status: 400,
    error: { message: `${copy} has the log of before an upgrade: remove it, then erase` },
  });
  rmSync(copy);
  expect(await erase(documentId, 1)).toMatchObject({ status: 200, data: { erased: true } });
  expect(await findWords(data, [WORD])).toEqual([]);
});

it('a document that a followed Strapi has is erased after it was deleted there', {
  ...takesMinutes('a server that follows another'),
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const source = await startForTest();
  const there = clientOf(source);
  const documentId = await there.create(WORD);
  const follow = ['--follow', source.url, '--follow-interval', '300ms', '--follow-rate', '1000'];
  const here = clientOf(await startForTest({ data, arguments: follow }));
  const names = async () => (await here.list()).map((row) => (row as { name?: string }).name);
  await expect.poll(names, { timeout: 60_000 }).toEqual([WORD]);
  expect(await here.erase(documentId, 1)).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining(`${documentId} comes from Strapi: delete it there first`) },
  });
  expect(await names()).toEqual([WORD]);
  await fetch(`${source.url}${PATH}/${documentId}`, { method: 'DELETE' });
  await expect.poll(names, { timeout: 60_000 }).toEqual([]);
  expect(await here.erase(documentId, 1)).toMatchObject({ status: 200, data: { erased: true } });
  expect(await findWords(data, [WORD])).toEqual([]);
});

it('a log in KurrentDB is erased by a way round: over a log in SQLite, into a new namespace', {
  ...takesMinutes('two moves of a log'),
  timeout: 600_000,
}, async () => {
  const double = await startKurrentDbDouble();
  onTestFinished(() => double.stop());
  const [old, sqlite, clean] = [dataForTest(), dataForTest(), dataForTest()];
  const onKurrent = ['--event-store', double.url];
  const withKey = [...onKurrent, '--access-key', ACCESS_KEY];
  const [first, second] = [join(sqlite, 'first.jsonl'), join(sqlite, 'second.jsonl')];
  const run = async (...args: readonly string[]) => {
    const ran = await runVarve(args);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
  };

  const before = await startForTest({ data: old, arguments: withKey });
  const { create, erase, list } = clientOf(before);
  await create('first');
  const documentId = await create(WORD);
  await create('last');
  const others = (await list()).filter((row) => (row as Document).documentId !== documentId);
  expect(await erase(documentId, 1)).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('The events of a log in KurrentDB cannot be rewritten') },
  });
  await before.stop();
  await run('export', first, '--data', old, ...onKurrent);
  await run('import', first, '--data', sqlite);
  const between = await startForTest({ data: sqlite });
  expect(await clientOf(between).erase(documentId, 1)).toMatchObject({ status: 200, data: { erased: true } });
  await between.stop();
  await run('export', second, '--data', sqlite);
  const namespace = ['--space', 'clean'];
  await run('import', second, '--data', clean, ...withKey, ...namespace);
  const hasWord = (space: string) =>
    [...double.log.records].some(
      ({ stream, data }) => stream.startsWith(`${space}.`) && Buffer.from(data).includes(WORD),
    );
  expect([hasWord('varve'), hasWord('clean')]).toEqual([true, false]);
  const after = await startForTest({ data: clean, arguments: [...withKey, ...namespace] });
  expect(await clientOf(after).list()).toEqual(others);
  expect((await fetch(`${after.url}${PATH}/${documentId}`)).status).toBe(404);
  await run('verify', '--data', clean, ...onKurrent, ...namespace);
  expect(await findWords(clean, [WORD])).toEqual([]);
  // The stream that the operator then deletes in KurrentDB.
  for (const { stream } of [...double.log.records])
    if (stream.startsWith('varve.')) double.log.delete(stream);
  double.log.scavenge();
  expect(await clientOf(after).list()).toEqual(others);
  expect(await clientOf(after).create('later')).toBeDefined();
});
