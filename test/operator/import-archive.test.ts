import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCorpus } from '../conformance/run-corpus.ts';
import { createAsk } from '../support/access-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { digestOfData } from '../support/digest-of-data.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { spawnVarve, startServer } from '../support/server.ts';
import { AT, archivedType, kitchenArchive, writeArchive } from '../support/strapi-archive.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Export of the conformance corpus by Strapi 5.54. */
const CORPUS = join(import.meta.dirname, '../support/archives/strapi-5.54-export.tar.gz');
/** Number of kills during an import, and of rows in its archive. IMPORT_KILLS=20 IMPORT_ROWS=100000 for a full run. */
const KILLS = Number(process.env['IMPORT_KILLS'] ?? 2);
const ROWS = Number(process.env['IMPORT_ROWS'] ?? 3_000);
const folder = mkdtempSync(join(tmpdir(), 'varve-imports-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Summary = {
  readonly documents: number;
  readonly lines: number;
  readonly seconds: number;
  readonly rows: Readonly<Record<string, { readonly read: number; readonly stored: number }>>;
  readonly roles: Readonly<Record<string, readonly string[]>>;
  readonly notes: readonly { readonly what: string }[];
};

it("imports Strapi's export of the corpus: reads are answered as Strapi answered them", {
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const rehearsed = await jsonOf<Summary>([
    'import',
    CORPUS,
    '--dry-run',
    '--json',
    '--data',
    join(data, 'none'),
  ]);
  const summary = await jsonOf<Summary>(['import', CORPUS, '--json', '--data', data]);
  expect(summary).toMatchObject({
    documents: 313,
    lines: 2865,
    refused: [],
    strapi: '5.54.0',
    dryRun: false,
  });
  const rows = (count: number) => ({ read: count, stored: count, omitted: {} });
  expect(summary.rows).toMatchObject({
    'api::restaurant.restaurant': rows(135),
    'api::article.article': rows(63),
    'plugin::i18n.locale': { read: 3, stored: 0, omitted: { "belongs to Strapi's admin panel": 3 } },
  });
  expect(summary.roles['public']).toEqual(expect.arrayContaining(['article.find', 'restaurant.create']));
  expect(summary.roles).not.toHaveProperty('authenticated');
  expect(summary.notes.map(({ what }) => what)).toEqual(['plugin::i18n.locale']);
  expect({ ...rehearsed, seconds: summary.seconds }).toEqual({ ...summary, dryRun: true });
  const imported = digestOfData(data);

  const again = await runVarve(['import', CORPUS, '--data', data]);
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect(again.stdout).toContain(
    '313 documents of Strapi 5.54.0 were imported, 313 of them by an earlier import',
  );
  expect(digestOfData(data)).toEqual(imported);

  const server = await startServer({ data, contentTypes: CORPUS });
  onTestFinished(() => server.dispose());
  const only = takesMinutes('every area').skip ? ['--only', READ_AREAS.join()] : [];
  const { code, output } = await runCorpus(server.url, only, 'collect');
  expect(code, output.slice(-3000)).toBe(0);
  const users = await createAsk(server.url)('/api/users?sort=id&fields=id,username');
  expect(users.body.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

/** Areas of the corpus whose answers depend on ids, times, orders at both ends, versions and locales. */
const READ_AREAS = ['sort.ties', 'populate.world', 'deep.tomany', 'publication', 'shape.entry', 'users'];

describe('an import that is read from Elasticsearch', async () => {
  const options = await needsElasticsearch(takesMinutes('the corpus of an import on Elasticsearch'));
  it('answers reads as Strapi answered them', { ...options, timeout: 300_000 }, async () => {
    const data = dataForTest();
    const space = `archive_${process.pid}`;
    const index = ['--read-index', await elasticsearchUrl(), '--space', space];
    await jsonOf<Summary>(['import', CORPUS, '--json', '--data', data, '--space', space]);
    const server = await startServer({ data, contentTypes: CORPUS, arguments: index });
    onTestFinished(async () => {
      await server.dispose();
      await removeIndices(await elasticsearchUrl(), space);
    });
    const { code, output } = await runCorpus(server.url, ['--only', READ_AREAS.join()], 'collect');
    expect(code, output.slice(-3000)).toBe(0);
  });
});

it(`has the same result after ${KILLS} kills during ${ROWS} rows as without one`, {
  ...takesMinutes('imports that are killed'),
  timeout: 300_000 + KILLS * 60_000,
}, async () => {
  const archive = await kitchenArchive(join(folder, 'kitchen.tar.gz'), ROWS);
  const [whole, killed] = [dataForTest(), dataForTest()];
  const summary = await jsonOf<Summary>(['import', archive, '--json', '--data', whole]);
  console.log(`${summary.lines} lines in ${summary.seconds} s`);
  let interrupted = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, exited } = spawnVarve(['import', archive, '--data', killed]);
    // The first kill comes as soon as there is a log: a busy machine may have been slower before.
    const isEarly = () => kill === 0 && existsSync(join(killed, 'events.db'));
    const end = performance.now() + (kill === 0 ? 60_000 : summary.seconds * 1000 * Math.random() + 300);
    while (child.exitCode === null && performance.now() < end && !isEarly()) await sleep(5);
    child.kill('SIGKILL');
    if ((await exited).signal === 'SIGKILL') interrupted++;
  }
  expect(interrupted).toBeGreaterThan(0);
  const rest = await jsonOf<Summary>(['import', archive, '--json', '--data', killed]);
  expect(rest).toMatchObject({ documents: summary.documents, refused: [] });
  expect(digestOfData(killed)).toEqual(digestOfData(whole));
});

it('writes no document that was changed since then, and reports it', {
  ...takesMinutes('imports of documents that were changed'),
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  expect(await runVarve(['import', CORPUS, '--data', data])).toMatchObject({ code: 0 });
  const server = await startServer({ data, contentTypes: CORPUS });
  const ask = createAsk(server.url);
  const { body } = await ask('/api/continents?pagination[limit]=1');
  const [{ documentId }] = body.data;
  await ask(`/api/continents/${documentId}`, { method: 'PUT', body: { data: { name: 'Changed' } } });
  await server.dispose();
  // The stream begins with the event that is imported again, so it counts as written.
  expect(await runVarve(['import', CORPUS, '--data', data])).toMatchObject({ code: 0 });
  const later = await startServer({ data, contentTypes: CORPUS });
  onTestFinished(() => later.dispose());
  expect((await createAsk(later.url)(`/api/continents/${documentId}`)).body.data.name).toBe('Changed');
});

it('shows the first ten documents of a rehearsed archive as they are answered afterwards', {
  ...takesMinutes('rehearsed archives'),
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const attributes = { title: { type: 'string' }, secret: { type: 'string', private: true } };
  const archive = await writeArchive(join(folder, 'twelve.tar.gz'), {
    schemas: [archivedType('page', attributes, { options: { draftAndPublish: true } })],
    entities: Array.from({ length: 24 }, (_, n) => ({
      type: 'api::page.page',
      id: n + 1,
      data: {
        ...{ documentId: `page${n % 12}`.padEnd(24, 'x'), title: `${n}`, secret: 'hidden' },
        ...{ createdAt: AT, updatedAt: AT, publishedAt: n < 12 ? null : AT },
      },
    })),
  });
  const { code, stdout, stderr } = await runVarve(['import', archive, '--dry-run', '--data', data]);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('12 documents of Strapi');
  expect(stdout).not.toContain('hidden');
  expect(existsSync(join(data, 'events.db'))).toBe(false);
  expect(await runVarve(['import', archive, '--data', data])).toMatchObject({ code: 0 });
  const server = await startServer({ data, contentTypes: archive });
  onTestFinished(() => server.dispose());
  for (const status of ['draft', 'published']) {
    const shown = [...stdout.matchAll(new RegExp(`^${status} (.*)$`, 'gm'))].map(([, row = '']) => row);
    expect(shown).toHaveLength(10);
    const { body } = await createAsk(server.url)(`/api/pages?status=${status}`);
    const answered = body.data.map((row: object) => JSON.stringify(row));
    expect(answered).toEqual(expect.arrayContaining(shown));
  }
});

it('keeps the ids of published rows of Strapi 4, which get drafts, also when it is repeated', {
  ...takesMinutes('archives of Strapi 4'),
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const archive = await writeArchive(join(folder, 'four.tar.gz'), {
    schemas: [archivedType('page', { title: { type: 'string' } }, { options: { draftAndPublish: true } })],
    entities: Array.from({ length: 12 }, (_, n) => ({
      type: 'api::page.page',
      id: n + 1,
      data: { title: `${n + 1}`, createdAt: AT, updatedAt: AT, publishedAt: n % 3 === 0 ? null : AT },
    })),
    metadata: JSON.stringify({ createdAt: AT, strapi: { version: '4.25.0' } }),
  });
  for (const known of ['were imported:', 'were imported, 12 of them by an earlier import:']) {
    const { code, stdout, stderr } = await runVarve(['import', archive, '--data', data]);
    expect([code, stdout], stderr).toEqual([
      0,
      expect.stringContaining(`12 documents of Strapi 4.25.0 ${known}`),
    ]);
  }
  const server = await startServer({ data, contentTypes: archive });
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  const idsOf = async (status: string) =>
    (await ask(`/api/pages?status=${status}&sort=id`)).body.data.map((row: { id: number; title: string }) => [
      row.id,
      Number(row.title),
    ]);
  const numbers = Array.from({ length: 12 }, (_, n) => n + 1);
  const isDraft = (n: number) => n % 3 === 1;
  expect(await idsOf('published')).toEqual(numbers.flatMap((n) => (isDraft(n) ? [] : [[n, n]])));
  expect(await idsOf('draft')).toEqual([
    ...numbers.flatMap((n) => (isDraft(n) ? [[n, n]] : [])),
    ...numbers.flatMap((n) => (isDraft(n) ? [] : [[100 + n, n]])),
  ]);
});

it('refuses an archive with another default locale', { timeout: 300_000 }, async () => {
  const data = dataForTest();
  const wrong = await runVarve(['import', CORPUS, '--data', data, '--default-locale', 'fr']);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('pass --default-locale en');
});

it('refuses to serve content with another default locale, which its entries would not be found in', {
  ...takesMinutes('other default locales'),
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const archive = await writeArchive(join(folder, 'german.tar.gz'), {
    schemas: [
      archivedType('page', { title: { type: 'string' } }, { pluginOptions: { i18n: { localized: true } } }),
    ],
    entities: [
      {
        type: 'api::page.page',
        id: 1,
        data: { documentId: 'page'.padEnd(24, '0'), title: 'Hallo', locale: 'de', publishedAt: AT },
      },
    ],
    configuration: [{ type: 'core-store', value: { key: 'plugin_i18n_default_locale', value: 'de' } }],
  });
  const german = ['--default-locale', 'de'];
  expect(await runVarve(['import', archive, '--data', data, ...german])).toMatchObject({ code: 0 });
  for (const command of ['serve', 'import']) {
    const named = command === 'serve' ? ['--content-types', archive, '--port', '0'] : [archive];
    const refused = await runVarve([command, ...named, '--data', data]);
    expect(refused.code).toBe(1);
    expect(refused.stderr + refused.stdout).toContain('pass --default-locale de');
  }
  const server = await startServer({ data, contentTypes: archive, arguments: german });
  onTestFinished(() => server.dispose());
  expect((await createAsk(server.url)('/api/pages')).body.data).toMatchObject([{ title: 'Hallo' }]);
});

it('ends with exit code 1 if a file is not as the archive says, and names it', {
  timeout: 300_000,
}, async () => {
  const archive = await writeArchive(join(folder, 'short.tar.gz'), {
    schemas: [archivedType('page', { title: { type: 'string' } })],
    entities: [
      {
        type: 'plugin::upload.file',
        id: 1,
        data: {
          ...{
            documentId: 'file'.padEnd(24, '0'),
            name: 'a.txt',
            hash: 'a',
            mime: 'text/plain',
            size: 65.54,
          },
          ...{ url: '/uploads/a.txt', provider: 'local', createdAt: AT, updatedAt: AT },
        },
      },
    ],
    assets: { 'a.txt': Buffer.alloc(4) },
  });
  const { code, stdout, stderr } = await runVarve(['import', archive, '--data', dataForTest()]);
  expect(code).toBe(1);
  expect(stdout).toContain('  plugin::upload.file: 1\n');
  expect(stdout).toContain('  /uploads/a.txt: the archive says it has 65.54 kB, and has 4 bytes of it');
  expect(stderr).toContain('the import differs from the archive in 1 places');
});
