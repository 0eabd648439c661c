import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { BREAKAGES, createBrokenProject, writeArticles } from '../support/broken-project.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Values that broken content types hid come back with the definition. */
const project = createBrokenProject();
const written = createDataDirectory();
const LONG = { ...takesMinutes('values that come back'), timeout: 240_000 };
let before: string;

async function start(data: string, ...options: readonly string[]): Promise<RunningServer> {
  const server = await startServer({ contentTypes: project.folder, data, arguments: options });
  onTestFinished(() => server.dispose());
  return server;
}

/** Returns all rows of articles in every version and locale, with components, zones and authors. */
async function answers(url: string): Promise<string> {
  const versions = ['draft', 'published'].flatMap((status) =>
    ['en', 'de'].map((locale) => `status=${status}&locale=${locale}`),
  );
  const bodies = versions.map(async (version) => {
    const answer = await fetch(`${url}/api/articles?populate=*&sort=id&${version}`);
    return answer.text();
  });
  const people = await fetch(`${url}/api/people?populate[articles][fields]=title&sort=id&filters[name]=Ada`);
  return [...(await Promise.all(bodies)), await people.text()].join('\n');
}

function copyOfData(): string {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  cpSync(written, data, { recursive: true });
  return data;
}

async function expectNoDifferences(data: string): Promise<void> {
  for (const command of [['verify'], ['rebuild', '--graph'], ['verify']]) {
    const { code, stdout, stderr } = await runVarve([...command, '--data', data]);
    expect(code, stdout + stderr).toBe(0);
  }
}

beforeAll(async () => {
  const server = await startServer({ contentTypes: project.folder, data: written });
  await writeArticles(server.url);
  before = await answers(server.url);
  expect((await server.stop()).code).toBe(0);
});
beforeEach(project.restore);
afterAll(() => {
  project.dispose();
  rmSync(written, { recursive: true, force: true });
});

async function expectRestored({ what, breaks, losses }: (typeof BREAKAGES)[number]): Promise<void> {
  const data = copyOfData();
  breaks(project);
  const accepted = Object.keys(losses).flatMap((name) => ['--accept-loss', name]);
  const broken = await start(data, ...accepted);
  expect(await answers(broken.url)).not.toBe(before);
  await broken.stop();
  // The change is in the log, so the same folder loses nothing any more.
  await (await start(data)).stop();
  // `varve verify` cannot read a type without a file whose relation has lost its other side.
  if (what !== 'a renamed target') await expectNoDifferences(data);
  project.restore();
  const restored = await start(data);
  expect(await answers(restored.url)).toBe(before);
  await restored.stop();
  await expectNoDifferences(data);
  expect(await answers((await start(data)).url)).toBe(before);
}

it.each(BREAKAGES)('everything comes back after $what', LONG, expectRestored);

it('edits of other attributes meanwhile stay, and an export has all of it', LONG, async () => {
  const data = copyOfData();
  project.article(({ attributes }) => {
    attributes['summary'] = { type: 'strng' };
  });
  const broken = await start(data, '--accept-loss', 'api::article.article.summary');
  const list = `${broken.url}/api/articles?filters[title]=one`;
  const { data: found } = (await (await fetch(list)).json()) as { data: { documentId: string }[] };
  const [{ documentId } = { documentId: '' }] = found;
  const put = await fetch(`${broken.url}/api/articles/${documentId}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { title: 'one, edited' } }),
  });
  expect(put.status).toBe(200);
  await broken.stop();
  const file = join(data, 'history.jsonl');
  expect(await runVarve(['export', file, '--data', data])).toMatchObject({ code: 0 });
  const copy = createDataDirectory();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  expect(await runVarve(['import', file, '--data', copy])).toMatchObject({ code: 0 });
  project.restore();
  for (const directory of [data, copy]) {
    const restored = await start(directory);
    for (const status of ['draft', 'published']) {
      const answer = await fetch(`${restored.url}/api/articles/${documentId}?status=${status}`);
      const { title, summary } = ((await answer.json()) as { data: Record<string, unknown> }).data;
      expect({ title, summary }).toEqual({ title: 'one, edited', summary: 's1' });
    }
    await restored.stop();
    await expectNoDifferences(directory);
  }
});

it('varve types diff names what comes back', LONG, async () => {
  const data = copyOfData();
  const where = ['--content-types', project.folder, '--data', data];
  for (const { breaks, losses } of BREAKAGES) {
    breaks(project);
    const accepted = Object.keys(losses).flatMap((name) => ['--accept-loss', name]);
    await (await start(data, ...accepted)).stop();
    project.restore();
    const { code, stdout } = await runVarve(['types', 'diff', ...where]);
    expect(code).toBe(0);
    for (const [name, entries] of Object.entries(losses).filter(
      ([name]) => name !== 'api::person.person.articles',
    ))
      expect(stdout.replaceAll(/ +/g, ' ')).toContain(`${name} ${entries} come back`);
    await (await start(data)).stop();
  }
});
