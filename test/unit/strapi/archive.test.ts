import { createCipheriv, randomBytes, scryptSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, expect, it } from 'vitest';
import { type Archive, archiveFiles, isArchive, readJsonLines } from '../../../services/strapi/archive.ts';
import { readArchiveSchemas } from '../../../services/strapi/archive-schemas.ts';
import { assembleContentTypes, loadContentTypes } from '../../../shared/schema/load-content-types.ts';
import { CONFORMANCE_SCHEMA } from '../../support/server.ts';
import { ANY_LINE } from '../../support/strapi-archive.ts';

/** Export of the conformance corpus by Strapi 5.54. */
const EXPORTED = join(import.meta.dirname, '../../support/archives/strapi-5.54-export.tar.gz');
const folder = mkdtempSync(join(tmpdir(), 'varve-archive-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function linesByFile(archive: Archive): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const file of archiveFiles(archive)) {
    counts[file.name] = 0;
    if (!file.name.endsWith('.jsonl')) continue;
    for await (const _ of readJsonLines(file, ANY_LINE)) counts[file.name] = (counts[file.name] ?? 0) + 1;
  }
  return counts;
}

const WHOLE = {
  'schemas/schemas_00001.jsonl': 38,
  'entities/entities_00001.jsonl': 567,
  'links/links_00001.jsonl': 2298,
  'configuration/configuration_00001.jsonl': 49,
  'metadata.json': 0,
};

function written(name: string, content: Buffer | string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Encrypts like `strapi export --encrypt`, in its earlier form and in the form with a salt. */
function encrypted(content: Buffer, passphrase: string, salt: Buffer | undefined): Buffer {
  const cipher = createCipheriv('aes-128-ecb', scryptSync(passphrase, salt ?? '', 16), null);
  const head = salt === undefined ? [] : [Buffer.from('STRAPI2\0\x02\x10', 'latin1'), salt];
  return Buffer.concat([...head, cipher.update(content), cipher.final()]);
}

it('reads an archive with and without compression, and a folder of its files', async () => {
  expect(await linesByFile({ file: EXPORTED })).toEqual(WHOLE);
  const tar = written('plain.tar', gunzipSync(readFileSync(EXPORTED)));
  expect(await linesByFile({ file: tar })).toEqual(WHOLE);
  for await (const { name, content } of archiveFiles({ file: EXPORTED })) {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    written(join('unpacked', name), Buffer.concat(parts));
  }
  const unpacked = join(folder, 'unpacked');
  expect([isArchive(EXPORTED), isArchive(tar), isArchive(unpacked), isArchive(folder)]).toEqual([
    ...[true, true, true, false],
  ]);
  expect(await linesByFile({ file: unpacked })).toEqual(WHOLE);
});

it.each([
  ['without a salt', undefined],
  ['with a salt', randomBytes(16)],
])('deciphers an archive %s, and reports a wrong key', async (name, salt) => {
  const file = written(`${name}.tar.gz.enc`, encrypted(readFileSync(EXPORTED), 'open sesame', salt));
  expect(await linesByFile({ file, key: 'open sesame' })).toEqual(WHOLE);
  await expect(linesByFile({ file })).rejects.toThrow('is encrypted: pass the key');
  await expect(linesByFile({ file, key: 'other' })).rejects.toThrow('or the key is wrong');
});

it.each([
  ['cut.tar.gz', readFileSync(EXPORTED).subarray(0, 30_000)],
  ['cut.tar', gunzipSync(readFileSync(EXPORTED)).subarray(0, 200_000)],
  ['none.tar.gz', Buffer.from('hello')],
])('reports %s as damaged', async (name, content) => {
  const file = written(name, content);
  await expect(linesByFile({ file })).rejects.toThrow(`${file} cannot be read: it is damaged or cut short`);
});

it('names a line that is not JSON', async () => {
  const content = (async function* () {
    yield Buffer.from('{"a":"ñ"}\n\n{"b":');
  })();
  const read = async () => {
    for await (const line of readJsonLines({ name: 'links/x.jsonl', size: 0, content }, ANY_LINE))
      expect(line).toEqual({ a: 'ñ' });
  };
  await expect(read()).rejects.toThrow('links/x.jsonl, line 3: ');
});

it('refuses a line that is too long before it has the whole of it', async () => {
  let read = 0;
  const content = (async function* () {
    yield Buffer.from('{"a":1}\n{"a":"');
    for (; read < 100; read++) yield Buffer.from('x'.repeat(10));
  })();
  const lines: unknown[] = [];
  const all = async () => {
    for await (const line of readJsonLines({ name: 'entities/x.jsonl', size: 0, content }, ANY_LINE, 50))
      lines.push(line);
  };
  await expect(all()).rejects.toThrow('entities/x.jsonl, line 2: longer than 50 characters');
  expect(lines).toEqual([{ a: 1 }]);
  expect(read).toBeLessThan(10);
});

it('joins a line of many parts, with characters across two of them', async () => {
  const text = 'ñ€😀'.repeat(1_000);
  const bytes = Buffer.from(`${JSON.stringify({ text })}\r\n${JSON.stringify({ text })}`);
  const content = (async function* () {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  })();
  const lines: unknown[] = [];
  for await (const line of readJsonLines({ name: 'links/x.jsonl', size: 0, content }, ANY_LINE))
    lines.push(line);
  expect(lines).toEqual([{ text }, { text }]);
});

it('has the content types of the exported project', async () => {
  const archived = assembleContentTypes(await readArchiveSchemas({ file: EXPORTED }));
  const project = loadContentTypes(CONFORMANCE_SCHEMA);
  if (archived.kind === 'problems' || project.kind === 'problems') throw new Error('problems');
  expect(archived.warnings).toEqual([]);
  expect(archived.registry).toEqual(project.registry);
});

it('reads every byte of the files of a folder, and counts them', async () => {
  const contents: Record<string, Buffer> = {
    'metadata.json': Buffer.from('{}'),
    'assets/uploads/large.bin': randomBytes(200_000),
    'assets/uploads/small.bin': randomBytes(10),
    'entities/entities_00001.jsonl': Buffer.from('{"type":"a"}\n'),
    'schemas/schemas_00001.jsonl': Buffer.from('{}\n'),
  };
  for (const [name, content] of Object.entries(contents)) written(`whole/${name}`, content);
  let counted = 0;
  const onBytes = (bytes: number) => {
    counted += bytes;
  };
  const read: Record<string, Buffer> = {};
  for await (const file of archiveFiles({ file: join(folder, 'whole'), onBytes }))
    read[file.name] = Buffer.concat(await Array.fromAsync(file.content));
  expect(read).toEqual(contents);
  expect(counted).toBe(Object.values(contents).reduce((sum, { length }) => sum + length, 0));
});

it('refuses a folder with a symbolic link, which could name any file of the machine', async () => {
  for (const name of ['metadata.json', 'schemas/a.jsonl', 'entities/a.jsonl'])
    written(`linked/${name}`, '{}');
  const link = join(folder, 'linked/assets/uploads/secret.txt');
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync('/etc/hostname', link);
  await expect(linesByFile({ file: join(folder, 'linked') })).rejects.toThrow(
    `${link} is a symbolic link: an archive has only files`,
  );
});

it('reads an archive that a Mac packed again: without its files, and below a folder', async () => {
  const contents: Record<string, string> = {
    '._export': 'x',
    'export/._metadata.json': 'x',
    'export/metadata.json': '{}',
    'export/.DS_Store': 'x',
    'export/schemas/schemas_00001.jsonl': '{}\n',
    'export/schemas/._schemas_00001.jsonl': 'x',
    'export/entities/entities_00001.jsonl': '{"type":"a"}\n',
    'export/assets/uploads/._a.png': 'x',
    'export/assets/uploads/a.png': 'picture',
    '__MACOSX/export/._metadata.json': 'x',
  };
  const tar = pack();
  for (const [name, content] of Object.entries(contents)) {
    tar.entry({ name: `./${name}` }, content);
    written(`mac/${name}`, content);
  }
  tar.finalize();
  const names = async (file: string) => {
    const found: string[] = [];
    for await (const { name } of archiveFiles({ file })) found.push(name);
    return found.sort();
  };
  const expected = Object.keys(contents)
    .filter((name) => !/\._|DS_Store/.test(name))
    .map((name) => name.slice('export/'.length))
    .sort();
  const file = written('mac.tar', Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>)));
  expect(await names(file)).toEqual(expected);
  expect(isArchive(join(folder, 'mac'))).toBe(true);
  expect(await names(join(folder, 'mac'))).toEqual(expected);
});
