import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { copyPostgres } from '../../services/strapi/copy-postgres.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { digestOfData } from '../support/digest-of-data.ts';
import { freePort } from '../support/elasticsearch-node.ts';
import { extractUploads } from '../support/extract-uploads.ts';
import { needsPostgres, type PostgresNode, startPostgres } from '../support/postgres-node.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';

/** Dump and export of one Strapi 5.54 on PostgreSQL, with the corpus and two files. */
const DUMP = join(import.meta.dirname, '../support/archives/strapi-5.54-postgres.sql.gz');
const ARCHIVE = join(import.meta.dirname, '../support/archives/strapi-5.54-postgres.tar.gz');

const folder = mkdtempSync(join(tmpdir(), 'varve-postgres-project-'));
const src = join(folder, 'src');
afterAll(() => rmSync(folder, { recursive: true }));

async function makeProject(): Promise<void> {
  cpSync(CONFORMANCE_SCHEMA, src, { recursive: true });
  mkdirSync(join(folder, 'public/uploads'), { recursive: true });
  await extractUploads(ARCHIVE, join(folder, 'public/uploads'));
}

type Summary = {
  readonly strapi: string;
  readonly rows: Readonly<Record<string, { readonly read: number; readonly stored: number }>>;
};

describe("Strapi's PostgreSQL database", needsPostgres(), () => {
  let postgres: PostgresNode;
  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.sql(
      'postgres',
      `CREATE DATABASE strapi; CREATE DATABASE other; CREATE DATABASE moving; CREATE ROLE reader LOGIN PASSWORD 'reader';`,
    );
    await postgres.sql('strapi', gunzipSync(readFileSync(DUMP)).toString());
    await postgres.sql(
      'moving',
      `CREATE TABLE strapi_core_store_settings (id int, key text, value text); CREATE TABLE up_users (id int);
       CREATE TABLE zebras (id int, at timestamptz); INSERT INTO zebras
         SELECT number, '2024-01-02 03:04:05.678+02' FROM generate_series(1, 1201) AS number;`,
    );
    await makeProject();
  }, 300_000);
  afterAll(() => postgres?.stop());

  const expectNoSecrets = (text: string) => {
    for (const secret of ['s3cret', postgres.password, encodeURIComponent(postgres.password)])
      expect(text).not.toContain(secret);
  };

  it('is imported like the archive of its project', { timeout: 300_000 }, async () => {
    const [fromDatabase, fromArchive] = [dataForTest(), dataForTest()];
    const importOf = (source: string, data: string) =>
      jsonOf<Summary>(['import', source, '--json', '--data', data, '--content-types', src]);
    const summary = await importOf(postgres.url('strapi'), fromDatabase);
    expect(summary).toMatchObject({ strapi: '5', assets: 3, refused: [], mismatches: [] });
    expect(JSON.stringify(summary)).not.toContain(encodeURIComponent(postgres.password));
    const archived = await importOf(ARCHIVE, fromArchive);
    for (const [type, counts] of Object.entries(summary.rows))
      expect(archived.rows[type], type).toEqual(counts);
    expect(digestOfData(fromDatabase)).toEqual(digestOfData(fromArchive));
  });

  it('needs the right address and password, and is one of Strapi', async () => {
    const { port } = postgres;
    const at = (database: string) => `cannot read the PostgreSQL database ${database} at 127.0.0.1:${port}: `;
    const free = await freePort();
    for (const [url, problem] of [
      [
        postgres.url('strapi', 'postgres:s3cret'),
        `${at('strapi')}password authentication failed for user "postgres"`,
      ],
      [
        postgres.url('strapi', 'postgres'),
        `${at('strapi')}the server wants a password, which PGPASSWORD or the address gives`,
      ],
      [postgres.url('none'), `${at('none')}database "none" does not exist`],
      [
        postgres.url('other'),
        `${at('other')}it is not a database of Strapi: it has no table strapi_core_store_settings`,
      ],
      [
        postgres.url('strapi', 'reader:reader'),
        /permission denied for table \w+: the user needs the privilege SELECT/,
      ],
      [
        `postgres://a:s3cret@127.0.0.1:${free}/strapi`,
        `at 127.0.0.1:${free}: connect ECONNREFUSED 127.0.0.1:${free}`,
      ],
      [
        'postgres://a:s3cret#@127.0.0.1/strapi',
        'the address of the database is not like postgres://user@host:5432/database',
      ],
      ['postgres://a:s3cret/x@127.0.0.1/strapi', 'the address of the database is not like'],
      ['postgres://a:s3cret@127.0.0.1:x/strapi', 'the address of the database is not like'],
    ] as const) {
      const options = { url, file: join(folder, 'refused.db'), collections: { 'api::tag.tag': 'tags' } };
      const error = await copyPostgres(options).catch((reason: Error) => reason);
      expect(error?.message).toMatch(problem);
      expectNoSecrets(inspect(error));
    }
  });

  it('is refused by the command without the password, also in its debug log', async () => {
    const args = ['import', postgres.url('strapi', 'postgres:s3cret'), '--data', dataForTest()];
    const { code, stdout, stderr } = await runVarve([...args, '--content-types', src], {
      VARVE_LOG_LEVEL: 'debug',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^varve import: cannot read .*: password authentication failed/);
    expectNoSecrets(stderr);
  });

  /** Starts a copy that waits for a table, which another connection has locked. */
  async function startedCopy() {
    const other = new Client({ connectionString: postgres.url('moving') });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE up_users IN ACCESS EXCLUSIVE MODE');
    const file = join(mkdtempSync(join(folder, 'copy-')), 'copy.db');
    const collections = { 'api::zebra.zebra': 'zebras' };
    const copying = copyPostgres({ url: postgres.url('moving'), file, collections });
    copying.catch(() => {});
    const waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'up_users'::regclass";
    for (let turn = 0; (await postgres.sql('moving', waiting)).trim() !== '1'; turn++) {
      expect(turn, 'the copy waits for the table').toBeLessThan(200);
      await delay(50);
    }
    const release = async () => {
      await other.query('COMMIT');
      await other.end();
    };
    return { copying, release, file };
  }

  it('is read at one moment, while others write', { timeout: 300_000 }, async () => {
    const { copying, release, file } = await startedCopy();
    await postgres.sql('moving', 'INSERT INTO zebras VALUES (1202, now())');
    await release();
    await copying;
    const copy = new DatabaseSync(file);
    const rows = copy.prepare('SELECT * FROM zebras ORDER BY id').all();
    expect(rows).toEqual(
      Array.from({ length: 1201 }, (_, at) => ({ id: at + 1, at: '2024-01-02 01:04:05.678' })),
    );
    copy.close();
  });

  it('names the database when the connection is lost', { timeout: 300_000 }, async () => {
    const { copying, release } = await startedCopy();
    await postgres.sql(
      'moving',
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'varve import'",
    );
    await expect(copying).rejects.toThrow(/^cannot read the PostgreSQL database moving at .*: terminating/);
    await release();
  });
});

it('gives up a server that accepts the connection and is silent', async () => {
  const silent = createServer(() => {});
  const port = await new Promise<number>((resolve) =>
    silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port)),
  );
  onTestFinished(() => void silent.close());
  const options = { url: `postgres://a@127.0.0.1:${port}/strapi`, collections: {}, connectMs: 100 };
  await expect(copyPostgres({ ...options, file: join(folder, 'silent.db') })).rejects.toThrow(
    /: timeout expired$/,
  );
});
