import { rmSync } from 'node:fs';
import { afterAll, afterEach, expect, it } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { projectFolder } from '../support/strapi-project.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const config = (client: string) =>
  `module.exports = ({ env }) => ({ connection: { client: env('DATABASE_CLIENT', '${client}') } });`;
const FILES = {
  'src/api/note/content-types/note/schema.json': JSON.stringify({
    info: { singularName: 'note', pluralName: 'notes' },
    options: { draftAndPublish: true },
    attributes: { at: { type: 'time' }, parts: { type: 'component', component: 'a.part', repeatable: true } },
  }),
  'src/components/a/part.json': JSON.stringify({ attributes: { at: { type: 'time' } } }),
};
const sqlite = projectFolder({ ...FILES, 'config/database.js': config('sqlite') });
const postgres = projectFolder({ ...FILES, 'config/database.js': config('postgres') });
const folders = [sqlite, postgres];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
let server: RunningServer | undefined;
afterEach(() => server?.dispose());

async function start(contentTypes: string, data: string, given: readonly string[] = []) {
  await server?.dispose();
  server = await startServer({ contentTypes, data, arguments: given });
  return createAsk(server.url);
}

const BODY = { at: '18:45:30', parts: [{ at: '07:00:00.5' }, { at: '07:00:00.250' }] };

it.each([
  ['on SQLite', sqlite, [], '18:45:30.000', ['07:00:00.500', '07:00:00.250']],
  ['on PostgreSQL', postgres, [], '18:45:30', ['07:00:00.5', '07:00:00.25']],
  [
    'on SQLite, with the option',
    sqlite,
    ['--time-milliseconds', 'false'],
    '18:45:30',
    ['07:00:00.5', '07:00:00.25'],
  ],
])('answers times of a project %s', async (_, project, given, at, parts) => {
  const data = createDataDirectory();
  folders.push(data);
  const ask = await start(project, data, given);
  const created = await ask('/api/notes?populate=*', { method: 'POST', body: { data: BODY } });
  const wanted = { at, parts: parts.map((each) => ({ at: each })) };
  expect(created.body.data).toMatchObject(wanted);
  expect((await ask('/api/notes?populate=*&filters[at]=18:45:30.000')).body.data).toMatchObject([wanted]);
  expect(
    (await ask('/api/notes?filters[at][$gt]=18:45:29&filters[parts][at]=07:00:00.5')).body.data,
  ).toHaveLength(1);
  const { documentId, updatedAt } = created.body.data;
  const again = await ask(`/api/notes/${documentId}?populate=*`, {
    method: 'PUT',
    body: { data: { at: '18:45:30.0' } },
  });
  expect(again.body.data).toMatchObject(wanted);
  const modified = await ask(`/api/notes?publicationFilter=modified&status=draft`);
  expect([modified.status, modified.body.data]).toEqual([200, []]);
  expect(typeof updatedAt).toBe('string');
});

it('converts stored times when the form changes', takesMinutes('changed forms of times'), async () => {
  const data = createDataDirectory();
  folders.push(data);
  const before = await start(postgres, data);
  await before('/api/notes', { method: 'POST', body: { data: BODY } });
  const after = await start(sqlite, data);
  expect((await after('/api/notes?populate=*')).body.data).toMatchObject([
    { at: '18:45:30.000', parts: [{ at: '07:00:00.500' }, { at: '07:00:00.250' }] },
  ]);
  const back = await start(postgres, data);
  expect((await back('/api/notes?populate=*&filters[at]=18:45:30')).body.data).toMatchObject([
    { at: '18:45:30', parts: [{ at: '07:00:00.5' }, { at: '07:00:00.25' }] },
  ]);
});
