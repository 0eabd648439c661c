import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { TypesDiff } from '../../services/content-types/types-diff.ts';
import { BREAKAGES, createBrokenProject, writeArticles } from '../support/broken-project.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Starts with content types that would drop values that are served. */
const project = createBrokenProject();
const data = createDataDirectory();
const LOCALIZED = { i18n: { localized: true } };
const where = ['--content-types', project.folder, '--data', data];
let before: string;

async function start(...options: readonly string[]): Promise<RunningServer> {
  const server = await startServer({ contentTypes: project.folder, data, arguments: options });
  onTestFinished(() => server.dispose());
  return server;
}

/** Returns the rows of all articles. */
async function answers(url: string): Promise<string> {
  const versions = ['draft', 'published'].flatMap((status) =>
    ['en', 'de'].map((locale) => `status=${status}&locale=${locale}`),
  );
  const bodies = versions.map(async (version) => {
    const answer = await fetch(`${url}/api/articles?populate=*&sort=id&${version}`);
    expect(answer.status).toBe(200);
    return answer.text();
  });
  return (await Promise.all(bodies)).join('\n');
}

beforeAll(async () => {
  const server = await startServer({ contentTypes: project.folder, data });
  await writeArticles(server.url);
  before = await answers(server.url);
  expect((await server.stop()).code).toBe(0);
});
beforeEach(project.restore);
afterAll(() => {
  project.dispose();
  rmSync(data, { recursive: true, force: true });
});

it.each(BREAKAGES)(
  'a start with $what is refused, and names what is lost',
  async ({ breaks, losses, says }) => {
    breaks(project);
    const { code, stderr } = await runVarve(['serve', ...where, '--port', '0', '--log-level', 'error']);
    expect(code).toBe(1);
    expect(stderr).toContain('would drop values that are served');
    expect(stderr).toContain(says);
    const named = [...stderr.matchAll(/^ {2}(\S+), (\d+) entr/gm)].map(([, name, entries]) => [
      name,
      Number(entries),
    ]);
    expect(Object.fromEntries(named)).toEqual(losses);
    const accept = Object.keys(losses).map((name) => `--accept-loss ${name}`);
    expect(stderr).toContain(`Correct the files, or pass ${accept.join(' ')}`);
  },
);

it('the refused starts have changed nothing', async () => {
  const server = await start();
  expect(await answers(server.url)).toBe(before);
});

it(
  'an attribute that was never filled may be broken',
  takesMinutes('broken attributes without values, and in a fleet'),
  async () => {
    project.article(({ attributes }) => {
      attributes['note'] = { type: 'text' };
    });
    await (await start()).stop();
    project.article(({ attributes }) => {
      attributes['note'] = { type: 'txt' };
    });
    const server = await start();
    expect(await answers(server.url)).toBe(before);
    expect(server.output()).toContain('$.attributes.note.type');
  },
);

it('an import with such content types is refused', async () => {
  project.article(({ attributes }) => {
    attributes['summary'] = { type: 'strng' };
  });
  const file = join(data, 'rows.jsonl');
  writeFileSync(
    file,
    JSON.stringify({ type: 'person', key: 'p', state: 'published', data: { name: 'Eve' } }),
  );
  const { code, stderr } = await runVarve(['import', file, ...where]);
  expect(code).toBe(1);
  expect(stderr).toContain('  api::article.article.summary, 3 entries: ');
});

it(
  'a process of a fleet with such a folder ends, and the others continue',
  takesMinutes('broken attributes without values, and in a fleet'),
  async () => {
    const leader = await start();
    project.article(({ attributes }) => {
      attributes['summary'] = { type: 'strng' };
    });
    const other = createDataDirectory();
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    const { code, stderr } = await runVarve([
      ...['serve', '--content-types', project.folder, '--data', other, '--port', '0'],
      ...['--event-store', `sqlite:${join(data, 'events.db')}`],
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('  api::article.article.summary, 3 entries: ');
    expect(await answers(leader.url)).toBe(before);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ data: { name: 'Bob' } });
    const created = await fetch(`${leader.url}/api/people`, { method: 'POST', headers, body });
    expect(created.status).toBe(201);
    const { documentId } = ((await created.json()) as { data: { documentId: string } }).data;
    expect((await fetch(`${leader.url}/api/people/${documentId}`, { method: 'DELETE' })).status).toBe(204);
  },
);

describe('varve types diff', () => {
  const diff = (...options: readonly string[]) => runVarve(['types', 'diff', ...where, ...options]);
  const filesOf = () =>
    Object.fromEntries(
      readdirSync(data, { withFileTypes: true })
        // A reader of an SQLite file leaves an empty write-ahead log next to it.
        .filter((entry) => entry.isFile() && !/-(wal|shm)$/.test(entry.name))
        .map(({ name }) => [
          name,
          createHash('sha256')
            .update(readFileSync(join(data, name)))
            .digest('hex'),
        ]),
    );

  it.each(BREAKAGES)('names the losses of $what, and writes nothing', async ({ breaks, losses }) => {
    breaks(project);
    const found = filesOf();
    const { code, stdout, stderr } = await diff('--json');
    expect(code).toBe(1);
    const { effects } = JSON.parse(stdout) as TypesDiff;
    const lost = effects.filter(({ outcome }) => outcome === 'lost');
    expect(Object.fromEntries(lost.map(({ name, entries }) => [name, entries]))).toEqual(losses);
    expect(stderr).toContain('would drop values that are served');
    expect(filesOf()).toEqual(found);
  });

  it('says that the same folder changes nothing', async () => {
    expect(await diff()).toMatchObject({ code: 0, stdout: 'A start changes nothing.\n' });
  });

  it('names every other change, next to the running server', async () => {
    const server = await start();
    project.article(({ attributes }) => {
      const { summary, title, ...others } = attributes;
      const renamed = { ...title, pluginOptions: { ...LOCALIZED, varve: { renamedFrom: 'title' } } };
      for (const name of Object.keys(attributes)) delete attributes[name];
      Object.assign(attributes, { headline: renamed, summary: { ...summary, type: 'text' }, ...others });
      attributes['note'] = { type: 'string' };
    });
    project.remove('api/person');
    project.article(({ attributes }) => void delete attributes['author']);
    const { code, stdout, stderr } = await diff('--accept-loss', 'api::article.article.author');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll(/ +/g, ' ')).toBe(
      [
        'Definitions:',
        ' api::article.article: title was removed or renamed',
        ' api::article.article: summary has another type',
        ' api::article.article: author was removed or renamed',
        ' api::article.article: headline was added',
        ' api::article.article: note was added',
        '',
        'Types without a file, whose entries are not served until the file is back:',
        ' api::person.person: 1 entry',
        '',
        'VALUES OF ENTRIES EFFECT',
        'api::article.article.author 2 lost',
        'api::article.article.title 3 kept under the new name',
        '',
      ].join('\n'),
    );
    expect(await answers(server.url)).toBe(before);
  });

  it('refuses a directory without a graph', async () => {
    const folder = createDataDirectory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { code, stderr } = await runVarve([
      'types',
      'diff',
      '--content-types',
      project.folder,
      '--data',
      folder,
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(`graph.db does not exist: start a server on ${folder} first`);
  });
});
