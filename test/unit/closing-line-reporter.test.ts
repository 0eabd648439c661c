import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { takesMinutes } from '../support/takes-minutes.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Runs vitest on these files with the reporter under test. */
async function runVitest(files: { readonly [name: string]: string }, args: readonly string[] = []) {
  const folder = await mkdtemp(path.join(tmpdir(), 'varve-reporter-'));
  folders.push(folder);
  const config = `
    import { createClosingLineReporter } from '${root}/test/support/closing-line-reporter.ts';
    const crashReports = '${folder}/crashes.jsonl';
    const env = { NODE_OPTIONS: '--import=file://${root}/test/support/report-crash.ts', CRASH_REPORTS: crashReports };
    const reporters = ['default', createClosingLineReporter(crashReports)];
    export default { test: { globals: true, testTimeout: 60_000, env, reporters } };`;
  await writeFile(path.join(folder, 'vitest.config.mjs'), config);
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  return new Promise<{ code: number; lines: string[] }>((resolve) => {
    execFile(process.execPath, [vitest, 'run', '--root', folder, ...args], (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), lines: stdout.trimEnd().split('\n') });
    });
  });
}

test('the last line counts only passed tests when nothing failed or was skipped', async () => {
  const { code, lines } = await runVitest({ 'a.test.mjs': `test('one', () => {}); test('two', () => {});` });
  expect(lines.at(-1)).toBe('2 passed, 0 failed');
  expect(code).toBe(0);
});

test(
  'a file that does not load, a failing hook and an unhandled error each count as failed',
  takesMinutes('runs of Vitest by tests'),
  async () => {
    const { code, lines } = await runVitest({
      'good.test.mjs': `test('one', () => {});`,
      'bad.test.mjs': `test('one', () => { expect(1).toBe(2); });`,
      'broken.test.mjs': `import './missing.mjs'; test('never seen', () => {});`,
      'unhandled.test.mjs': `test('rejects aside', () => { Promise.reject(new Error('lost')); });`,
      'setup.test.mjs': `beforeAll(() => { throw new Error('early'); }); test('one', () => {});`,
      'hook.test.mjs': `describe('s', () => { afterAll(() => { throw new Error('late'); }); test('one', () => {}); });`,
    });
    expect(lines.filter((line) => line.startsWith('skipped '))).toEqual([
      'skipped setup.test.mjs: its setup failed',
    ]);
    expect(lines.at(-1)).toBe('3 passed, 5 failed, 1 skipped');
    expect(code).not.toBe(0);
  },
);

test('a process that a test started and that ends at an unhandled rejection counts as failed', async () => {
  const start = (program: string) => `
    import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(program)}, 'started'], { stdio: 'ignore' });
    const closed = once(child, 'close');
    test('looks at something else', () => closed);`;
  const { code, lines } = await runVitest({
    'rejects.test.mjs': start(`Promise.reject(new Error('nobody awaits this'))`),
    'throws.test.mjs': start(`setTimeout(() => { throw 'thrown aside'; }, 1)`),
    'handles.test.mjs': start(`Promise.reject(new Error('seen')).catch(() => process.exit(1))`),
    'killed.test.mjs': start(`process.kill(process.pid, 'SIGKILL')`),
  });
  expect(lines.filter((line) => line.startsWith('crashed ')).sort()).toEqual([
    'crashed (uncaughtException): started',
    'crashed (unhandledRejection): started',
  ]);
  expect(lines).toContain('Error: nobody awaits this');
  expect(lines).toContain('thrown aside');
  expect(lines.at(-1)).toBe('4 passed, 2 failed');
  expect(code).not.toBe(0);
});

test('skipped files, suites and tests are named with their reason, one line each', async () => {
  const { code, lines } = await runVitest({
    'file.test.mjs': `describe('all', { skip: true, meta: { skipReason: 'no cluster here' } }, () => { test('x', () => {}); });`,
    'suite.test.mjs': `test('runs', () => {});
      describe('part', () => { test('x', (context) => context.skip('needs root')); test('y', (c) => c.skip()); });`,
  });
  expect(lines.filter((line) => line.startsWith('skipped '))).toEqual([
    'skipped file.test.mjs: no cluster here',
    'skipped suite.test.mjs > part: needs root',
  ]);
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 3 skipped');
  expect(code).toBe(0);
});

const UNEXPLAINED = {
  'suite.test.mjs': `test('runs', () => {}); test.skip('one', () => {});
    describe.skip('outer', () => { describe('inner', () => { test('z', () => {}); }); });`,
};

test('a skip without a reason counts as a failure', takesMinutes('runs of Vitest by tests'), async () => {
  const { code, lines } = await runVitest(UNEXPLAINED);
  expect(lines.filter((line) => line.startsWith('skipped '))).toEqual([
    'skipped suite.test.mjs > one: no reason given',
    'skipped suite.test.mjs > outer: no reason given',
  ]);
  expect(lines.at(-1)).toBe('1 passed, 2 failed, 2 skipped');
  expect(code).not.toBe(0);
});

test(
  'tests that were not chosen by name need no reason',
  takesMinutes('runs of Vitest by tests'),
  async () => {
    const { code, lines } = await runVitest(UNEXPLAINED, ['--testNamePattern', 'runs']);
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 2 skipped');
    expect(code).toBe(0);
  },
);
