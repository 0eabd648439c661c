import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { createPrivateDatabase } from '../../shared/sqlite/private-database.ts';
import { get, postCook, renameCooks } from '../support/changed-kitchen.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { runVarve } from '../support/run-varve.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A data directory of the last release without supervisors, as SQL, and the answers of that release. */
const FOLDER = join(import.meta.dirname, '../support/earlier-data');

function createEarlierData(): string {
  const data = mkdtempSync(join(tmpdir(), 'varve-earlier-data-'));
  for (const name of ['events', 'generations', 'graph']) {
    const file = join(data, `${name}.db`);
    createPrivateDatabase(file);
    const db = new DatabaseSync(file);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec(readFileSync(join(FOLDER, `${name}.sql`), 'utf8'));
    db.close();
  }
  return data;
}

const answers = JSON.parse(readFileSync(join(FOLDER, 'answers.json'), 'utf8')) as Readonly<
  Record<string, string>
>;

const LONG = { ...takesMinutes('a data directory of an earlier release'), timeout: 180_000 };

it(
  'serves a data directory of an earlier release unchanged until a new read model is built',
  LONG,
  async () => {
    const data = createEarlierData();
    const contentTypes = createKitchenTypes();
    onTestFinished(() => {
      for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
    });
    const server = await startServer({ data, contentTypes });
    onTestFinished(() => server.dispose());
    const expectAnswers = async () => {
      for (const [path, text] of Object.entries(answers))
        expect(await (await fetch(server.url + path)).text()).toBe(text);
    };
    const graph = join(data, 'graph.db');
    const { ino } = statSync(graph);
    const generations = async () => {
      const { stdout } = await runVarve(['status', '--json', '--data', data]);
      return (JSON.parse(stdout) as { projections: { generation: number }[] }).projections[0]?.generation;
    };
    await expectAnswers();
    // The graph was not rebuilt.
    expect(statSync(graph).ino).toBe(ino);
    await expect.poll(generations, { timeout: 120_000, interval: 200 }).toBe(2);
    await expectAnswers();
    const written = await fetch(`${server.url}/api/cooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: { name: 'Cyd' } }),
    });
    expect(written.status).toBe(201);
    expect((await runVarve(['rollback', '--data', data])).stdout).toContain('generation 1 is live');
    await expectAnswers();
    expect(await server.stop()).toMatchObject({ code: 0 });
  },
);

it('changes the content types of a data directory of an earlier release while it serves', LONG, async () => {
  const data = createEarlierData();
  const contentTypes = createKitchenTypes();
  renameCooks(contentTypes);
  onTestFinished(() => {
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });
  const server = await startServer({ data, contentTypes, arguments: ['--convert-at-once', '0'] });
  onTestFinished(() => server.dispose());
  const cooks = async () => (await get(`${server.url}/api/cooks?sort=id`)).body.data;
  const before = (await cooks()).map((cook) => cook['name']);
  expect(before.length).toBeGreaterThan(0);
  await expect.poll(async () => (await cooks())[0]?.['fullName'], { timeout: 60_000 }).toBe(before[0]);
  expect((await postCook(server.url, { fullName: 'Cyd' })).status).toBe(201);
  expect(await runVarve(['verify', '--data', data])).toMatchObject({ code: 0 });
  expect(await server.stop()).toMatchObject({ code: 0 });
});
