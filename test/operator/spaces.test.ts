import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

it(
  'namespaces of one log file do not see each other, and an export of one is imported as another into the file',
  takesMinutes('spaces of one log file'),
  async () => {
    const folder = createDataDirectory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'shared.db');
    const settings = (space: string) => [
      ...['--space', space, '--event-store', `sqlite:${file}`, '--data', join(folder, space)],
    ];
    const serve = async (space: string) => {
      const server = await startServer({
        data: join(folder, space),
        arguments: settings(space).slice(0, 4),
      });
      onTestFinished(() => server.dispose());
      return server;
    };
    const tagsOf = async ({ url }: { readonly url: string }) =>
      (await createAsk(url)('/api/tags?sort=key')).body;

    const servers = [await serve('one'), await serve('two')];
    for (const n of [1, 2, 3]) {
      for (const [at, { url }] of servers.entries()) {
        const body = { data: { key: `k${n}`, name: `${at} ${n}` } };
        expect((await createAsk(url)('/api/tags', { method: 'POST', body })).status).toBe(201);
      }
    }
    const answers = await Promise.all(servers.map(tagsOf));
    expect(answers.map(({ data }) => data.map(({ name }: { name: string }) => name))).toEqual([
      ['0 1', '0 2', '0 3'],
      ['1 1', '1 2', '1 3'],
    ]);
    await servers[0]?.stop();

    const exported = join(folder, 'one.jsonl');
    await succeed('export', exported, ...settings('one'));
    const lines = readFileSync(exported, 'utf8').trim().split('\n');
    const changed = lines.map((line) => line.replace('"0 2"', '"0 9"'));
    writeFileSync(join(folder, 'changed.jsonl'), `${changed.join('\n')}\n`);
    const refused = await runVarve(['import', join(folder, 'changed.jsonl'), ...settings('three')]);
    expect(refused.stderr).toMatch(
      /line \d+ has an event that was changed: its content does not match its digest/,
    );

    // The other namespace keeps its content.
    await succeed('import', exported, ...settings('three'));
    const three = await serve('three');
    expect(await tagsOf(three)).toEqual(answers[0]);
    expect(await tagsOf(servers[1] as { url: string })).toEqual(answers[1]);
    const log = openSqliteEventStore(file, { space: 'three' });
    const [batch] = await Array.fromAsync(log.readAll(0n, { batchSize: 1 }));
    const { head } = JSON.parse(lines.at(-1) ?? '');
    expect(batch?.[0]).toMatchObject({ type: 'log-identified', data: { history: head } });
    expect(await log.historyAt(BigInt(head.position))).toBe(head.chain);
    await log.close();
    for (const space of ['one', 'two', 'three']) await succeed('verify', ...settings(space));
  },
);
