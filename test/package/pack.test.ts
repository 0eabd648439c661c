import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { takesMinutes } from '../support/takes-minutes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MINUTES_MS = 60_000;
/** Options of tests that need the package's dependencies. Other tests only unpack the package. */
const INSTALLED = takesMinutes('an installed package');

/** Without what `npm test` adds, npm's notes about the checkout's package and its programs, but for Node: the machine's may be too old. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env)
    .filter(([name]) => !/^(VARVE_|npm_(package|lifecycle)_|npm_config_local_prefix$)/.test(name))
    .map(([name, value]) => [name, name === 'PATH' ? outsidePath(value ?? '') : value]),
);

function outsidePath(path: string): string {
  const folders = path.split(delimiter);
  const outside = folders.filter((folder) => !/node_modules\/.bin$|node-gyp-bin$/.test(folder));
  return [dirname(process.execPath), ...outside].join(delimiter);
}

async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  // A script of a dependency starts npm and ends it after three seconds. Varve has not crashed then.
  const env = { ...ENVIRONMENT, NODE_OPTIONS: '', SCARF_ANALYTICS: 'false' };
  const { stdout } = await promisify(execFile)('npm', args, { cwd, env, maxBuffer: 1e8 });
  return stdout;
}

const folder = mkdtempSync(join(tmpdir(), 'varve-package-'));
const app = join(folder, 'app');
const installed = join(app, 'node_modules/varve');

beforeAll(async () => {
  mkdirSync(app);
  await npm(ROOT, 'pack', '--pack-destination', folder);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(1);
  const tarball = join(folder, tarballs[0] as string);
  if (INSTALLED.skip !== true) {
    await npm(app, 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball);
    return;
  }
  mkdirSync(installed, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
}, 4 * MINUTES_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('has only the files that are needed to run', () => {
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'examples', 'package.json']);
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => name.endsWith('.ts'))).toEqual([]);
  expect(files).toContain(join('dist', 'services', 'cli', 'varve.js'));
});

const MEGABYTES = 250;

it(`takes less than ${MEGABYTES} MB with all optional dependencies`, INSTALLED, () => {
  const files = readdirSync(join(app, 'node_modules'), { recursive: true, encoding: 'utf8' });
  const blocks = files.reduce((sum, name) => sum + lstatSync(join(app, 'node_modules', name)).blocks, 0);
  expect((blocks * 512) / 1e6).toBeLessThan(MEGABYTES);
  expect(files).toContain('@aws-sdk/client-s3');
});

it('has a program that refuses an older Node before it loads anything else', () => {
  const program = readFileSync(join(installed, 'dist/services/cli/bin.js'), 'utf8');
  expect(program).toMatch(/^#!\/usr\/bin\/env node\n/);
  const imports = [...program.matchAll(/^import .* from '(.*)'/gm)].map(([, path]) => path);
  expect(imports).toEqual(['./node-problem.js']);
  expect(readFileSync(join(installed, 'dist/services/cli/node-problem.js'), 'utf8')).not.toContain('import');
});

const OPTIONAL = [
  ['sharp', ['serve', '--examples', '--picture-formats', 'before'], {}],
  ['@aws-sdk/client-s3', ['serve', '--examples', '--assets', 's3://bucket'], {}],
  ['@kurrent/kurrentdb-client', ['events', '--event-store', 'kurrentdb://127.0.0.1:1?tls=false'], {}],
  ['@elastic/elasticsearch', ['serve', '--examples', '--read-index', 'http://127.0.0.1:1'], {}],
  [
    '@opentelemetry/sdk-trace',
    ['serve', '--examples'],
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  ],
] as const;

it.each(OPTIONAL)('says what to install if %s is missing', INSTALLED, async (name, args, env) => {
  const there = join(app, 'node_modules', name);
  renameSync(there, join(folder, 'missing'));
  try {
    const program = join(installed, 'dist/services/cli/bin.js');
    const data = ['--data', join(folder, 'data', name)];
    const run = promisify(execFile)(process.execPath, [program, ...args, ...data, ...portOf(args)], {
      cwd: app,
      env: { ...ENVIRONMENT, ...env },
    });
    const pattern = `needs packages that are not installed: npm install (\\S+ )*${name}@\\d+\\.\\d+\\.\\d+`;
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(pattern) });
  } finally {
    renameSync(join(folder, 'missing'), there);
  }
});

function portOf([command]: readonly string[]): readonly string[] {
  return command === 'serve' ? ['--port', '0'] : [];
}

type Served = { readonly url: string; readonly process: ChildProcess; readonly output: () => string };

/** Runs `npx varve …` in the empty folder, as a process group that can be ended together. */
async function npxVarve(...args: readonly string[]): Promise<Served> {
  const process_ = spawn('npx', ['varve', ...args], {
    cwd: app,
    env: ENVIRONMENT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => endGroup(process_, 'SIGKILL'));
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [process_.stdout, process_.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const url = /^Varve serves .* at (http:\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
  }
  process_.on('close', (code) => reject(new Error(`npx varve ended with ${code}:\n${output}`)));
  return { url: await promise, process: process_, output: () => output };
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

it('serves the examples with npx, from a folder with nothing else in it', {
  ...INSTALLED,
  timeout: 2 * MINUTES_MS,
}, async () => {
  const served = await npxVarve('serve', '--examples', '--port', '0');
  expect((await fetch(`${served.url}/_health`)).status).toBe(204);
  const answer = await fetch(
    `${served.url}/api/restaurants?filters[city][name][$notNull]=true&populate=city`,
  );
  expect(answer.status).toBe(200);
  const { data } = (await answer.json()) as { data: { name: string; city: object }[] };
  expect(data[0]).toMatchObject({ name: expect.any(String), city: { name: expect.any(String) } });
  expect(served.output()).toContain('example documents were written');
  expect(existsSync(join(app, '.varve'))).toBe(true);
  const closed = once(served.process, 'close');
  endGroup(served.process, 'SIGTERM');
  await closed;
  await expect
    .poll(() =>
      fetch(served.url).then(
        () => 'serving',
        () => 'ended',
      ),
    )
    .toBe('ended');
});
