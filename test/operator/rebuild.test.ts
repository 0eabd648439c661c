import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKitchenTypes } from '../support/kitchen.ts';
import { limitFiles } from '../support/limit-files.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Tests `varve rebuild`, `rollback` and `drop`, with a running server and with a directory that no process uses. */
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
let server: RunningServer | undefined;

const create = async (collection: string, name: string) => {
  const answer = await fetch(`${server?.url}/api/${collection}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name } }),
  });
  expect(answer.status).toBe(201);
};

beforeAll(async () => {
  server = await startServer({ contentTypes, data });
  for (const name of ['Ada', 'Bob', 'Cyd']) await create('cooks', name);
  // With so many events, a rebuild of one event a second takes longer than the tests that watch it, even on a slow machine.
  // One after the other: the sockets of requests at once would be closed later, during the test without file handles.
  for (let i = 0; i < 120; i++) await create('dishs', `Dish ${i}`);
});
afterAll(async () => {
  await server?.dispose();
  for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
});

const own = ['--data', data];
const names = async () => {
  const answer = await fetch(`${server?.url}/api/cooks?sort=name`);
  const body = (await answer.json()) as { data: { name: string }[] };
  return body.data.map(({ name }) => name);
};
const graphs = () =>
  readdirSync(data)
    .filter((name) => /^graph(-\d+)?(-check)?\.db$/.test(name))
    .sort();

describe('on a running server', () => {
  it('says that the server cannot start the process for it', async () => {
    const worker = server?.worker() ?? 0;
    limitFiles(worker, 4);
    const refused = await runVarve(['rebuild', '--graph', ...own]);
    limitFiles(worker, 500);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the process of varve rebuild cannot be started: spawn .*EMFILE/),
    });
  });

  it('a rebuild switches to the new generation, a rollback switches back, a second one forward again, a drop leaves one generation', async () => {
    const rebuilt = await runVarve(['rebuild', '--graph', ...own]);
    expect(rebuilt).toMatchObject({ code: 0, stdout: expect.stringContaining('generation 2 is live') });
    // Progress is for terminals.
    expect(rebuilt.stderr).toBe('');
    expect(graphs()).toEqual(['graph-2.db', 'graph.db']);
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd']);
    await create('cooks', 'Dan');
    expect((await runVarve(['rollback', ...own])).stdout).toContain('generation 1 is live');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dan']);
    await create('cooks', 'Dee');
    expect((await runVarve(['rollback', ...own])).stdout).toContain('generation 2 is live');
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Dee']);
    expect((await runVarve(['drop', ...own])).stdout).toBe('generation 1 is removed\n');
    expect(graphs()).toEqual(['graph-2.db']);
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Dee']);
    expect((await runVarve(['rollback', ...own])).stderr).toContain('there is no kept generation');
  }, 300_000);

  it('a rebuild of another scope is refused while one is paused; the same one continues; a cancelled one leaves nothing', {
    ...takesMinutes('rebuilds that are paused and cancelled'),
    timeout: 300_000,
  }, async () => {
    const slow = spawnVarve(['rebuild', '--graph', '--max-rate', '1', '--json', ...own]);
    await new Promise<void>((resolve) => slow.child.stdout?.once('data', () => resolve()));
    const attached = spawnVarve(['rebuild', '--graph', '--json', ...own]);
    await new Promise<void>((resolve) => attached.child.stdout?.once('data', () => resolve()));
    const other = await runVarve(['rebuild', ...own]);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('varve rebuild --graph is running: wait for it, or cancel it');
    await runVarve(['rebuild', '--pause', ...own]);
    for (const { exited } of [slow, attached]) {
      const { code, output } = await exited;
      expect(code).toBe(0);
      expect(output).toContain('"wanted":"pause"');
    }
    expect((await runVarve(['rebuild', '--type', 'cook', ...own])).stderr).toContain(
      'has not finished: run it again',
    );
    expect(graphs()).toEqual(['graph-2.db', 'graph-3.db']);
    expect((await runVarve(['rebuild', '--cancel', ...own])).stdout).toContain('was cancelled');
    expect(graphs()).toEqual(['graph-2.db']);
    expect((await runVarve(['status', ...own])).stdout).toMatch(
      /Rebuild +generation 3, begun at \S+Z, was cancelled: an operator cancelled the rebuild/,
    );
    expect((await runVarve(['rebuild', '--cancel', ...own])).stderr).toContain(
      'there is no rebuild to pause or cancel',
    );
  });

  it('says what is wrong with its arguments', takesMinutes('refused rebuilds'), async () => {
    const refused = async (...args: string[]) => (await runVarve(['rebuild', ...args, ...own])).stderr;
    expect(await refused('--type', 'nonsense')).toContain('--type must be one of api::cook.cook');
    expect(await refused('--world', 'both')).toContain('must be draft or published');
    expect(await refused('--max-rate', 'fast')).toContain('must be an integer, in events per second');
    expect(await refused('--differences')).toBe('No rebuild waits because of differences.\n');
    expect(await refused('--differences', '--graph')).toContain('--differences applies to the current');
    expect(await refused('--pause', '--differences')).toContain('cannot be used together');
    expect(await refused('--copy', '--graph')).toContain('omit --graph, --type and --world');
  });
});

describe('a wrong graph', () => {
  it('is found by the comparison, row by row; --accept switches to the new graph', {
    ...takesMinutes('a comparison that finds differences'),
    timeout: 300_000,
  }, async () => {
    expect((await server?.stop())?.code).toBe(0);
    const db = new DatabaseSync(join(data, 'graph-2.db'));
    db.exec(`UPDATE rows SET source = CAST(replace(CAST(source AS TEXT), '"Ada"', '"Eve"') AS BLOB)`);
    db.close();
    server = await startServer({ contentTypes, data });
    expect(await names()).toEqual(['Bob', 'Cyd', 'Dan', 'Dee', 'Eve']);
    const stopped = await runVarve(['rebuild', '--graph', ...own]);
    expect(stopped.code).toBe(1);
    expect(stopped.stdout).toMatch(
      /^rows of api::cook\.cook, (draft|published): .*\n {2}- .*Eve.*\n {2}\+ .*Ada.*\n/,
    );
    expect(stopped.stderr).toMatch(/2 differences at position \d+; the old generation stays live/);
    const listed = await runVarve(['rebuild', '--differences', ...own]);
    expect(stopped.stdout).toBe(listed.stdout);
    expect(await names()).toEqual(['Bob', 'Cyd', 'Dan', 'Dee', 'Eve']);
    const scoped = await runVarve(['rebuild', '--cancel', ...own]);
    expect(scoped.code).toBe(0);
    const elsewhere = await runVarve(['rebuild', '--graph', '--type', 'dish', ...own]);
    expect(elsewhere).toMatchObject({ code: 0, stdout: expect.stringContaining('is live') });
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Dee']);
    await runVarve(['rollback', ...own]);
    expect(await names()).toEqual(['Bob', 'Cyd', 'Dan', 'Dee', 'Eve']);
    const copied = await runVarve(['rebuild', ...own]);
    expect(copied.stderr).toContain('2 differences');
    expect((await runVarve(['rebuild', '--cancel', ...own])).code).toBe(0);
    const accepted = await runVarve(['rebuild', '--graph', '--accept', ...own]);
    expect(accepted.code).toBe(0);
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Dee']);
  });
});

describe('the progress of a rebuild', () => {
  it('is complete at the end of each phase', {
    ...takesMinutes('the progress of a rebuild'),
    timeout: 300_000,
  }, async () => {
    const { code, stdout } = await runVarve(['rebuild', '--graph', '--json', ...own]);
    expect(code).toBe(0);
    type Line = {
      readonly phase: string;
      readonly progress: { readonly done: number; readonly total: number };
    };
    const last = new Map<string, Line['progress']>();
    for (const text of stdout.trim().split('\n')) {
      const { phase, progress } = JSON.parse(text) as Line;
      last.set(phase, progress);
    }
    for (const phase of ['replaying', 'verifying', 'done']) {
      const { done, total } = last.get(phase) ?? expect.unreachable(stdout);
      expect({ phase, done }).toEqual({ phase, done: total });
      expect(total).toBeGreaterThan(0);
    }
    await runVarve(['drop', ...own]);
  });
});

describe('on a directory without a server', () => {
  it('the same commands work without a server, and a server continues with the result', {
    ...takesMinutes('rebuilds without a server'),
    timeout: 300_000,
  }, async () => {
    expect((await server?.stop())?.code).toBe(0);
    for (const file of graphs()) rmSync(join(data, file));
    const lost = await runVarve(['rebuild', '--graph', ...own]);
    expect(lost).toMatchObject({ code: 0, stdout: expect.stringContaining('is live') });
    const copied = await runVarve(['rebuild', ...own]);
    expect(copied).toMatchObject({ code: 0, stdout: expect.stringContaining('is live') });
    expect((await runVarve(['rollback', ...own])).code).toBe(0);
    expect((await runVarve(['drop', ...own])).code).toBe(0);
    expect(graphs()).toHaveLength(1);
    server = await startServer({ contentTypes, data });
    expect(await names()).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Dee']);
  });
});
