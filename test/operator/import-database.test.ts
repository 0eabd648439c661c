import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { dataForTest } from '../support/data-for-test.ts';
import { digestOfData } from '../support/digest-of-data.ts';
import { extractUploads } from '../support/extract-uploads.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Database and export of one Strapi 5.54 on SQLite, with the corpus and two files. */
const DATABASE = join(import.meta.dirname, '../support/archives/strapi-5.54-sqlite.db.gz');
const ARCHIVE = join(import.meta.dirname, '../support/archives/strapi-5.54-sqlite.tar.gz');

const project = mkdtempSync(join(tmpdir(), 'varve-database-'));
afterAll(() => rmSync(project, { recursive: true }));
const database = join(project, '.tmp/data.db');
const uploads = join(project, 'public/uploads');

async function makeProject(): Promise<void> {
  for (const folder of ['.tmp', 'src', 'public/uploads'])
    mkdirSync(join(project, folder), { recursive: true });
  cpSync(CONFORMANCE_SCHEMA, join(project, 'src'), { recursive: true });
  writeFileSync(database, gunzipSync(readFileSync(DATABASE)));
  await extractUploads(ARCHIVE, uploads);
}

type Summary = {
  readonly strapi: string;
  readonly documents: number;
  readonly assets: number;
  readonly rows: Readonly<Record<string, { readonly read: number; readonly stored: number }>>;
  readonly notes: readonly { readonly what: string; readonly reason: string }[];
};

it("imports Strapi's SQLite database like the archive of its project, and leaves the file as it is", {
  timeout: 300_000,
}, async () => {
  await makeProject();
  const digest = () => createHash('sha256').update(readFileSync(database)).digest('hex');
  const before = digest();
  const [fromDatabase, fromArchive] = [dataForTest(), dataForTest()];
  const rehearsal = await runVarve(['import', database, '--dry-run', '--data', fromDatabase]);
  expect(
    rehearsal.stdout.match(/^(draft|published|live) \{"id":\d+,"documentId":/gm)?.length,
  ).toBeGreaterThan(9);
  expect(rehearsal.stdout).toContain('316 documents of Strapi 5 would be imported; nothing was written');
  expect(readdirSync(fromDatabase)).toEqual([]);
  const summary = await jsonOf<Summary>(['import', database, '--json', '--data', fromDatabase]);
  expect(summary).toMatchObject({ strapi: '5', documents: 316, assets: 2, refused: [], mismatches: [] });
  expect(summary.rows['plugin::users-permissions.user']).toEqual({ read: 8, stored: 8, omitted: {} });
  const rounded = summary.notes.filter(({ what }) => what === 'api::restaurant.restaurant visits');
  expect(rounded[0]?.reason).toBe(
    'stored as 9223372036854775807, the nearest value that fits: was 9223372036854776000',
  );
  const src = join(project, 'src');
  const archived = await jsonOf<Summary>([
    ...['import', ARCHIVE, '--json', '--data', fromArchive, '--content-types', src],
  ]);
  for (const [type, counts] of Object.entries(summary.rows))
    expect(archived.rows[type], type).toEqual(counts);
  expect(digestOfData(fromDatabase)).toEqual(digestOfData(fromArchive));
  expect(digest()).toBe(before);
  expect(readdirSync(join(project, '.tmp'))).toEqual(['data.db']);
});

it('imports a database into a running server', takesMinutes('a database that a server imports'), async () => {
  await makeProject();
  const server = await startServer({ contentTypes: join(project, 'src') });
  onTestFinished(() => server.dispose());
  const { code, stdout, stderr } = await runVarve([
    ...['import', database, '--content-types', join(project, 'src'), '--data', server.data],
  ]);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('api::restaurant.restaurant: 137\n');
  const picture = readdirSync(uploads).find((name) => name.endsWith('.png'));
  expect((await fetch(`${server.url}/uploads/${picture}`)).status).toBe(200);
});
