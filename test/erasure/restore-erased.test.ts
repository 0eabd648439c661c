import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readErasures } from '../../services/erasure/erasure-file.ts';
import { createAsk } from '../support/access-client.ts';
import { createApiClient } from '../support/api-client.ts';
import { findWords } from '../support/find-words.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { postForm, uploadForm } from '../support/upload-client.ts';

const PATH = '/api/restaurants';
const WORDS = ['Quixotellix', 'Umbragossen', 'Zanzibrillo', 'Vexilloprint'];
const FILE_WORDS = ['Pellworm-Attachment', 'Scherzligen'];

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

function idsIn(file: string): readonly string[] {
  return readErasures(file).map(({ id }) => id);
}

it('erases again what a backup of before has, and a copy of the data directory', {
  ...takesMinutes('a backup and its restores'),
  timeout: 600_000,
}, async () => {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [data = '', backup = '', restored = '', snapshot = ''] = [
    'data',
    'backup',
    'restored',
    'snapshot',
  ].map((name) => join(folder, name));
  let server = await startServer({ data });
  onTestFinished(() => server.dispose());
  let ask = createAsk(server.url);
  let client = createApiClient(server.url);
  const write = (path: string, method: string, data: object) =>
    client.data<{ readonly documentId: string }>(method, path, { data });
  const create = async (body: object): Promise<string> =>
    (await write(`${PATH}?status=published`, 'POST', body)).documentId;
  const erase = (type: string, documentId: string) =>
    write('/_varve/erasures', 'POST', { type, documentId, confirm: 1 });

  const first = await create({ key: 'first', name: 'first' });
  const erased = await create({ key: 'a', name: WORDS[0], address: { street: WORDS[1] } });
  await write(`${PATH}/${erased}`, 'PUT', { name: WORDS[2], parent: { connect: [first] } });
  await create({ key: 'b', name: 'b', parent: { connect: [erased] } });
  const earlier = await create({ key: 'c', name: WORDS[3] });
  const form = uploadForm([{ name: `${FILE_WORDS[0]}.txt`, bytes: FILE_WORDS[1] ?? '', type: 'text/plain' }]);
  const [{ documentId: file }] = (await (await postForm(server, form)).json()) as [{ documentId: string }];
  await server.stop();
  cpSync(data, snapshot, { recursive: true });
  server = await startServer({ data });
  ask = createAsk(server.url);
  client = createApiClient(server.url);
  await erase('api::restaurant.restaurant', earlier);
  await succeed('backup', backup, '--data', data);
  const later = await create({ key: 'later', name: 'later' });
  for (const documentId of [erased, later]) await erase('api::restaurant.restaurant', documentId);
  await erase('plugin::upload.file', file);
  const others = (await ask(`${PATH}?sort=key`)).body.data;
  await server.stop();

  expect(await findWords(backup, [...WORDS, ...FILE_WORDS])).not.toEqual([]);
  const ledger = join(data, 'erasures.jsonl');
  expect(await findWords(data, [...WORDS, ...FILE_WORDS])).toEqual([]);
  expect(readFileSync(ledger, 'utf8').trim().split('\n')).toHaveLength(4);
  const output = await succeed('restore', backup, '--erasures', ledger, '--data', restored);
  expect(output).toContain(
    '1 document was erased again, and the first start erases uploaded files, with their content: 1',
  );
  expect(await findWords(restored, WORDS)).toEqual([]);
  // Also the erasure of a document that the backup does not have.
  expect(idsIn(join(restored, 'erasures.jsonl'))).toEqual(idsIn(ledger));
  await succeed('verify', '--data', restored);

  const copy = await startServer({ data: restored });
  onTestFinished(() => copy.dispose());
  const askCopy = createAsk(copy.url);
  expect((await askCopy(`${PATH}?sort=key`)).body.data.map(({ name }: { name: string }) => name)).toEqual(
    others.map(({ name }: { name: string }) => name),
  );
  await expect
    .poll(
      async () => (await askCopy('/_varve/erasures')).body.data.map((one: { erased: boolean }) => one.erased),
      {
        timeout: 400_000,
      },
    )
    .toEqual([true, true, true]);
  expect(await findWords(restored, [...WORDS, ...FILE_WORDS])).toEqual([]);
  expect(idsIn(join(restored, 'erasures.jsonl'))).toEqual(idsIn(ledger));
  await succeed('verify', '--data', restored);

  expect(await findWords(snapshot, [...WORDS, ...FILE_WORDS])).not.toEqual([]);
  const again = await startServer({ data: snapshot });
  onTestFinished(() => again.dispose());
  const eraseAgain = ['erase', '--ledger', ledger, '--data', snapshot];
  expect(await succeed(...eraseAgain)).toContain('To erase 3 documents for good');
  expect(await succeed(...eraseAgain, '--confirm', '3')).toMatch(new RegExp(`${erased}: \\d+ events erased`));
  expect(await succeed(...eraseAgain)).toBe('nothing that the file names exists again\n');
  expect(await findWords(snapshot, [...WORDS, ...FILE_WORDS])).toEqual([]);
  expect(idsIn(join(snapshot, 'erasures.jsonl'))).toEqual(expect.arrayContaining([...idsIn(ledger)]));
  await succeed('verify', '--data', snapshot);
  writeFileSync(ledger, '{"id":1}\n{"id":2}\n');
  const wrong = await runVarve(['restore', backup, '--erasures', ledger, '--data', join(folder, 'wrong')]);
  expect(wrong.stderr).toContain('line 1 of');
});
