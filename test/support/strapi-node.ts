import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './elasticsearch-node.ts';
import type { SkipOptions } from './takes-minutes.ts';

const LOCAL = fileURLToPath(new URL('../../infra/strapi-local/', import.meta.url));
/** Folder of the installation. It is kept between runs, since an installation takes two minutes. */
const HOME = process.env['VARVE_TEST_STRAPI_HOME'] ?? join(tmpdir(), 'varve-strapi-local');

/** A real Strapi with the fixtures of the corpus. */
export type StrapiNode = {
  readonly url: string;
  /** Kills Strapi at once. */
  kill(): Promise<void>;
  /** Starts Strapi again with its content. */
  start(): Promise<void>;
  /** Calls the API of the admin panel. */
  admin(method: string, path: string, body?: object): Promise<Response>;
  /** Creates an API token that may read everything. */
  token(): Promise<string>;
  /** Replaces all content by that of an archive, with Strapi's own command. Strapi is stopped meanwhile. */
  importArchive(file: string): Promise<void>;
  stop(): Promise<void>;
};

export type StrapiNodeOptions = {
  /** A database for this test only, since other tests may run at the same time. */
  readonly database: string;
  /** Address and secret of its webhooks. */
  readonly webhook?: { readonly url: string; readonly secret: string };
};

/** Returns the options of a suite with a real Strapi. It is skipped with the reason if none can start, except in `.ci/run`. */
export function needsStrapi(options: SkipOptions): SkipOptions {
  if (options.skip || process.env['VARVE_REQUIRE_STRAPI'] === '1' || process.getuid?.() === 0) return options;
  return {
    skip: true,
    meta: { skipReason: 'infra/strapi-local needs root to run PostgreSQL as another user' },
  };
}

export async function startStrapi(options: StrapiNodeOptions): Promise<StrapiNode> {
  const port = await freePort();
  const { webhook } = options;
  const env = {
    ...process.env,
    STRAPI_LOCAL_HOME: HOME,
    STRAPI_LOCAL_DB: options.database,
    STRAPI_LOCAL_PG_PORT: process.env['VARVE_TEST_STRAPI_PG_PORT'] ?? String(await freePort()),
    STRAPI_LOCAL_PG_SHARED_BUFFERS: '128MB',
    ...(webhook === undefined ? {} : { WEBHOOK_URL: webhook.url, WEBHOOK_SECRET: webhook.secret }),
  };
  const run = (script: string, ...args: string[]) => runProgram(join(LOCAL, script), args, { env });
  const started = await run('up.sh', String(port), '--fresh');
  let pid = pidIn(started);
  const url = `http://127.0.0.1:${port}`;
  let login: Promise<string> | undefined;
  const admin = async (method: string, path: string, body?: object): Promise<Response> => {
    login ??= adminToken(url);
    const headers = { authorization: `Bearer ${await login}`, 'content-type': 'application/json' };
    return fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body ?? {}) });
  };
  const kill = async (): Promise<void> => {
    process.kill(pid, 'SIGKILL');
    while (isAlive(pid)) await delay(20);
  };
  const start = async (): Promise<void> => {
    pid = pidIn(await run('up.sh', String(port)));
    login = undefined;
  };
  return {
    url,
    admin,
    kill,
    start,
    async importArchive(file) {
      await kill();
      const database = {
        DATABASE_NAME: env.STRAPI_LOCAL_DB,
        DATABASE_PORT: /postgres_port=(\d+)/.exec(started)?.[1] ?? '',
      };
      const command = ['node_modules/@strapi/strapi/bin/strapi.js', 'import', '--force', '--file', file];
      // The lock prevents up.sh of another test from replacing the files that the command loads.
      const args = ['-w', '900', join(HOME, 'lock'), process.execPath, ...command];
      const at = { cwd: join(HOME, 'strapi'), env: { ...process.env, NODE_ENV: 'production', ...database } };
      await runProgram('flock', args, at);
      await start();
    },
    async token() {
      const body = { name: `t${Date.now()}`, description: '', type: 'read-only', lifespan: null };
      const { data } = (await (await admin('POST', '/admin/api-tokens', body)).json()) as {
        data: { accessKey: string };
      };
      return data.accessKey;
    },
    stop: async () => void (await run('down.sh', String(port))),
  };
}

async function adminToken(url: string): Promise<string> {
  const account = { email: 'admin@example.com', password: 'Passw0rd!' };
  const ask = async (path: string, body: object): Promise<string | undefined> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await response.json()) as { data?: { token?: string } }).data?.token;
  };
  const token =
    (await ask('/admin/login', account)) ??
    (await ask('/admin/register-admin', { firstname: 'A', lastname: 'B', ...account }));
  if (token === undefined) throw new Error('Strapi gives no administrator a token');
  return token;
}

function pidIn(output: string): number {
  return Number(/^strapi_pid=(\d+)$/m.exec(output)?.[1]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

type Where = { readonly env: NodeJS.ProcessEnv; readonly cwd?: string };

function runProgram(program: string, args: readonly string[], where: Where): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...where, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    // Processes that the script starts keep its output open, so we wait for its exit and not for the end of its output.
    child.once('exit', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}:\n${output}${errors}`)),
    );
  });
}
