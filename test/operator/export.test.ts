import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { AS_RECORDED, startLoadedServer } from '../conformance/run-corpus.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const CASES = fileURLToPath(new URL('../conformance/cases-visible.jsonl', import.meta.url));
const AT_ONCE = 8;

/** One in so many of the recorded reads is compared. EXPORT_READS=1 compares all. */
const ONE_IN = Number(process.env['EXPORT_READS'] ?? 5);

function recordedReads(): readonly string[] {
  const reads = readFileSync(CASES, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { request?: { method: string; path: string } }).request)
    .flatMap((request) => (request?.method === 'GET' ? [request.path] : []));
  return reads.filter((_, at) => at % ONE_IN === 0);
}

async function answersOf(url: string, paths: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  let next = 0;
  const ask = async () => {
    for (let at = next++; at < paths.length; at = next++) {
      const answer = await fetch(url + paths[at]);
      answers[at] = `${paths[at]} ${answer.status} ${await answer.text()}`;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return answers;
}

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

it('recorded reads have the same answers after an import into an empty store, byte for byte', {
  ...takesMinutes('an export of the whole corpus'),
  timeout: 180_000,
}, async () => {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const loaded = await startLoadedServer();
  onTestFinished(() => loaded.dispose());
  const file = join(folder, 'export.jsonl');
  expect(await succeed('export', file, '--data', loaded.data)).toMatch(/^\d+ events in /);
  expect(await succeed('export', '-', '--data', loaded.data)).toBe(readFileSync(file, 'utf8'));
  // Rights are not exported: a token does not change an export.
  const paths = recordedReads();
  expect(paths.length).toBeGreaterThan(1_500 / ONE_IN);
  const answers = await answersOf(loaded.url, paths);
  await succeed('token', 'create', '--name', 'mine', '--type', 'read-only', '--data', loaded.data);
  expect(await succeed('export', '-', '--data', loaded.data)).toBe(readFileSync(file, 'utf8'));

  const data = join(folder, 'data');
  await succeed('import', file, '--data', data, '--space', 'another');
  // A second import finds all events. If the log has other events, it does not begin.
  await succeed('import', file, '--data', data, '--space', 'another');
  // Another namespace is a separate log.
  await succeed('import', file, '--data', data, '--space', 'third');
  const used = await startServer();
  onTestFinished(() => used.dispose());
  const tag = { method: 'POST', body: { data: { key: 'used', name: 'used' } } };
  expect((await createAsk(used.url)('/api/tags', tag)).status).toBe(201);
  await used.stop();
  expect(await runVarve(['import', file, '--data', used.data])).toMatchObject({ code: 1 });

  const imported = await startServer({ data, env: AS_RECORDED, arguments: ['--space', 'another'] });
  onTestFinished(() => imported.dispose());
  expect(await answersOf(imported.url, paths)).toEqual(answers);
});

it('refuses an incomplete export', async () => {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startServer();
  onTestFinished(() => server.dispose());
  await server.stop();
  const file = join(folder, 'export.jsonl');
  await succeed('export', file, '--data', server.data);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const importing = async (text: string) => {
    writeFileSync(file, text);
    const { code, stderr } = await runVarve(['import', file, '--data', join(folder, 'data')]);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await importing(lines.slice(0, -1).join('\n'))).toContain('is incomplete');
  expect(await importing(lines.filter((_, at) => at !== 2).join('\n'))).toContain('the export was changed');
  expect(await importing([...lines.slice(0, 3), '{}', ...lines.slice(3)].join('\n'))).toContain(
    'line 4 is not a line',
  );
});
