import { execFile, spawnSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './elasticsearch-node.ts';
import type { SkipOptions } from './takes-minutes.ts';

const run = promisify(execFile);

/** A PostgreSQL of a test, with the superuser `postgres` and its password. */
export type PostgresNode = {
  readonly port: number;
  readonly password: string;
  /** Returns the address of a database, for a user with a password or without. */
  url(database: string, user?: string): string;
  /** Runs SQL text as `psql` does, with data of COPY. */
  sql(database: string, text: string): Promise<string>;
  stop(): Promise<void>;
};

/** Returns the folder of the programs of the newest PostgreSQL; undefined if there is none. */
function programs(): string | undefined {
  return globSync('/usr/lib/postgresql/*/bin')
    .filter((folder) => ['initdb', 'pg_ctl', 'psql'].every((name) => existsSync(join(folder, name))))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
}

/** Returns the options of a suite with PostgreSQL. It is skipped with the reason if there is none, except in `.ci/run`. */
export function needsPostgres(): SkipOptions {
  if (programs() !== undefined || process.env['VARVE_REQUIRE_POSTGRES'] === '1') return {};
  return { skip: true, meta: { skipReason: "PostgreSQL is missing: install Debian's package postgresql" } };
}

/** Starts a PostgreSQL on a free port. It refuses to run as root, which therefore runs it as the user that Debian's package creates. */
export async function startPostgres(): Promise<PostgresNode> {
  const bin = programs();
  if (bin === undefined) throw new Error('PostgreSQL is missing');
  const folder = mkdtempSync(join(tmpdir(), 'varve-postgres-'));
  const user = postgresUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const [data, password, port] = [join(folder, 'data'), 'p%#/?@w', await freePort()];
  const secret = join(folder, 'password');
  writeFileSync(secret, password, { mode: 0o644 });
  const own = { ...user, cwd: folder };
  await run(
    join(bin, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      '--pwfile',
      secret,
      '-E',
      'UTF8',
      '--no-locale',
      '-N',
    ],
    own,
  );
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c shared_buffers=16MB -c dynamic_shared_memory_type=mmap`;
  const control = (...args: readonly string[]) =>
    run(join(bin, 'pg_ctl'), ['-D', data, '-l', join(folder, 'log'), '-w', ...args], own);
  await control('start', '-o', settings);
  const env = { ...process.env, PGPASSWORD: password };
  return {
    port,
    password,
    url: (database, name = `postgres:${encodeURIComponent(password)}`) =>
      `postgres://${name}@127.0.0.1:${port}/${database}`,
    async sql(database, text) {
      const file = join(folder, 'statements.sql');
      writeFileSync(file, text);
      const to = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database];
      const options = ['-qAtX', '-v', 'ON_ERROR_STOP=1', '-f', file];
      return (await run(join(bin, 'psql'), [...to, ...options], { env })).stdout;
    },
    async stop() {
      await control('stop', '-m', 'immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the user that runs PostgreSQL; undefined for the user of this process. */
function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres']).stdout));
  return { uid: uid ?? 0, gid: gid ?? 0 };
}
