import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const REPLACED = 'a file of the read model cannot be used: it is rebuilt from the log';

/** Creates a data directory, and a function that starts a server there and writes cooks. It returns all cooks and the server's log. */
function createCooks() {
  const contentTypes = createKitchenTypes();
  const data = createDataDirectory();
  const options: string[] = [];
  onTestFinished(() => {
    for (const folder of [contentTypes, data]) rmSync(folder, { recursive: true, force: true });
  });
  return {
    data,
    options,
    args: ['serve', '--content-types', contentTypes, '--data', data, '--port', '0'],
    async add(...names: readonly string[]) {
      const server = await startServer({ contentTypes, data, arguments: options });
      onTestFinished(() => server.dispose());
      const ask = createAsk(server.url);
      for (const name of names) {
        expect((await ask('/api/cooks', { method: 'POST', body: { data: { name } } })).status).toBe(201);
      }
      const { body } = await ask('/api/cooks?sort=name');
      expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
      expect(await server.stop()).toMatchObject({ code: 0 });
      const found = body.data.map(({ name }: { name: string }) => name);
      return { names: found, output: server.output() };
    },
  };
}

it(
  'refuses a log that ends before the position of the graph; rebuilds the graph after other events were appended',
  takesMinutes('a log that is shorter than its graph'),
  async () => {
    const { data, args, options, add } = createCooks();
    await add('Ada');
    const [log, graph] = [join(data, 'events.db'), join(data, 'graph.db')];
    cpSync(log, `${data}/older.db`);
    await add('Bob', 'Cyd');
    cpSync(graph, `${data}/newer-graph.db`);
    cpSync(`${data}/older.db`, log);
    const { code, output } = await spawnVarve(args).exited;
    expect(code).toBe(1);
    expect(output).toMatch(
      /the log ends at position \d+, and \S+ has applied it up to position \d+: events are missing/,
    );
    expect(output.split('\n').length).toBeLessThan(20);
    rmSync(graph);
    // The uploaded files belong to the newer copy of the log.
    options.push('--adopt');
    await add('Dan', 'Eve', 'Fay', 'Gus');
    cpSync(`${data}/newer-graph.db`, graph);
    const written = await add();
    expect(written.names).toEqual(['Ada', 'Dan', 'Eve', 'Fay', 'Gus']);
    expect(written.output).toContain(REPLACED);
  },
);

it('names a lock that is damaged', takesMinutes('damaged locks'), async () => {
  const { data, args, add } = createCooks();
  await add('Ada');
  writeFileSync(join(data, 'lock.db'), 'garbage'.repeat(2_000));
  for (const command of [args, ['status', '--data', data]]) {
    const { code, stderr } = await runVarve(command);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/the lock \S+lock\.db is damaged: remove it/)]);
  }
  rmSync(join(data, 'lock.db'));
  expect((await add('Bob')).names).toEqual(['Ada', 'Bob']);
});

it('rebuilds a damaged graph, and ends with one clear sentence if the log is damaged', async () => {
  const { data, args, add } = createCooks();
  await add('Ada');
  writeFileSync(join(data, 'graph.db'), 'garbage'.repeat(2_000));
  for (const command of [
    ['backup', `${data}/backup`],
    ['rebuild', '--graph'],
  ]) {
    const { code, stderr } = await runVarve([...command, '--data', data]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/content graph \S+ is damaged .*: start the server/),
    ]);
  }
  const { names, output } = await add('Bob');
  expect(names).toEqual(['Ada', 'Bob']);
  expect(output).toContain(REPLACED);
  expect(existsSync(join(data, 'graph.db.damaged'))).toBe(true);
  writeFileSync(join(data, 'events.db'), 'garbage'.repeat(2_000));
  const ended = await spawnVarve(args).exited;
  expect(ended.code).toBe(1);
  expect(ended.output).toContain('cannot open the database');
});
