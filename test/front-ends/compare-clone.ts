import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../support/elasticsearch-node.ts';
import { pageList, printComparison } from './print-comparison.ts';

/**
 * A program that compares two APIs with the unmodified clone of a front end for Strapi. It builds the clone once for each API, and
 * compares the pages of both in a browser. Exits with 1 if pages differ. It changes nothing in the clone.
 *
 * `npm run compare-clone -- --folder site/client --variable STRAPI_BASE_URL --strapi http://127.0.0.1:1337 --varve http://127.0.0.1:1339`
 */
const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    /** The environment variable with the address of the API. */
    variable: { type: 'string' },
    strapi: { type: 'string' },
    varve: { type: 'string' },
    install: { type: 'string' },
    build: { type: 'string', default: 'npm run build' },
    start: { type: 'string', default: 'npm run preview -- --port {port}' },
    pages: { type: 'string', default: '/' },
    same: { type: 'string', multiple: true, default: [] },
  },
});
const { folder, variable, strapi, varve } = values;
if (folder === undefined || variable === undefined || strapi === undefined || varve === undefined) {
  console.error('--folder, --variable, --strapi and --varve are needed');
  process.exit(2);
}
const PATIENCE_MS = 120_000;
const scratch = mkdtempSync(join(tmpdir(), 'varve-front-end-'));
const started: ChildProcess[] = [];

function run(command: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  // In a separate process group, the children of the package manager can be ended with it.
  return spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
}

async function finish(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [code] = await once(run(command, cwd, env), 'exit');
  if (code !== 0) throw new Error(`"${command}" ended with ${code}`);
}

/** Resolves to the address of the front end, built for an API. */
async function serve(copy: string, api: string): Promise<string> {
  const port = await freePort();
  const env = { ...process.env, [String(variable)]: api, PORT: String(port) };
  await finish(values.build, copy, env);
  const server = run(values.start.replaceAll('{port}', String(port)), copy, env);
  started.push(server);
  const url = `http://localhost:${port}`;
  const until = Date.now() + PATIENCE_MS;
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  ) {
    if (server.exitCode !== null) throw new Error(`"${values.start}" ended with ${server.exitCode}`);
    if (Date.now() > until) throw new Error(`"${values.start}" does not answer at ${url}`);
    await delay(200);
  }
  return url;
}

try {
  const isSource = (path: string) =>
    !['.git', 'node_modules', 'dist', '.next', '.astro'].includes(basename(path));
  const [one, other] = [join(scratch, 'strapi'), join(scratch, 'varve')];
  cpSync(folder, one, { recursive: true, filter: isSource });
  const locked = existsSync(join(one, 'package-lock.json'));
  await finish(values.install ?? (locked ? 'npm ci' : 'npm install'), one, process.env);
  cpSync(one, other, { recursive: true, verbatimSymlinks: true });
  await printComparison({
    ...{ pages: pageList(values.pages), same: values.same, api: undefined },
    strapi: { url: await serve(one, strapi) },
    varve: { url: await serve(other, varve) },
  });
} finally {
  for (const { pid } of started) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
}
