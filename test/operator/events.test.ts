import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, spawnVarve, startServer } from '../support/server.ts';

let server: RunningServer;
const data = createDataDirectory();
const own = ['--data', data];
const ask = (...given: Parameters<ReturnType<typeof createAsk>>) => createAsk(server.url)(...given);

beforeAll(async () => {
  server = await startServer({ data });
});
afterAll(async () => {
  await server.dispose();
  rmSync(data, { recursive: true, force: true });
});

async function createCountry(name: string): Promise<string> {
  const { body, status } = await ask('/api/countries', {
    method: 'POST',
    body: { data: { key: name, name } },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data.documentId as string;
}

async function linesOf(args: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runVarve(['events', ...own, ...args]);
  expect(code, stderr).toBe(0);
  return stdout.trim() === '' ? [] : stdout.trimEnd().split('\n');
}

it('shows the same history of a document while a server runs and afterwards', async () => {
  const documentId = await createCountry('Norway');
  await ask(`/api/countries/${documentId}`, { method: 'PUT', body: { data: { name: 'Norge' } } });
  const running = await linesOf(['--document', documentId]);
  await server.stop();
  expect(await linesOf(['--document', documentId])).toEqual(running);
  server = await startServer({ data });
  expect(running.map((line) => line.trim().split(/\s+/)[2])).toEqual(['entry-created', 'entry-changed']);
  expect(running.at(-1)).toMatch(/api::country\.country +\S+ +name = "Norge" {2}by development \(update\)$/);
  const position = running[1]?.trim().split(' ')[0] ?? '';
  expect(await linesOf(['--document', documentId, '--from', position])).toEqual(running.slice(1));
});

it('shows events as they are stored, as JSON', async () => {
  const documentId = await createCountry('Peru');
  const [line = ''] = await linesOf(['--document', documentId, '--json']);
  const event = JSON.parse(line);
  expect(event).toMatchObject({ revision: '0', type: 'entry-created', data: { values: { name: 'Peru' } } });
  expect(event.position).toMatch(/^\d+$/);
});

it('shows the author, and filters by author, type and time', async () => {
  const started = new Date().toISOString();
  // The event is at a later millisecond.
  await delay(2);
  const documentId = await createCountry('Mali');
  const one = ['--document', documentId];
  expect(await linesOf([...one, '--actor', 'development', '--type', 'entry-created'])).toHaveLength(1);
  expect(await linesOf([...one, '--since', started])).toHaveLength(1);
  expect(await linesOf([...one, '--since', '1h', '--until', started])).toEqual([]);
  expect(await linesOf([...one, '--actor', 'operator'])).toEqual([]);
  const elections = await linesOf(['--type', 'leader-elected', '--json']);
  const { actor, via } = JSON.parse(elections.at(-1) ?? '').metadata;
  expect([actor.kind, via]).toEqual(['process', 'claim-lead']);
  expect(await linesOf(['--type', 'leader-elected', '--actor', actor.id, '--json'])).toEqual([
    elections.at(-1),
  ]);
});

it('shows events that no reader can read', async () => {
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve' });
  const foreign = { id: randomUUID(), type: 'x\u001b[31m', data: [7], metadata: { user: 'x' } as never };
  await log.append('varve.note-1', 'any', [foreign]);
  await log.close();
  expect((await linesOf([])).at(-1)).toMatch(/x\\u001b\[31m .*foreign: it has no metadata of Varve's/);
  expect(JSON.parse((await linesOf(['--raw'])).at(-1) ?? '')).toMatchObject({
    ...{ stream: 'varve.note-1', revision: '0', data: [7], metadata: { user: 'x' } },
    unreadable: expect.stringContaining('foreign'),
  });
});

it('follows new events, in order, until it is interrupted', async () => {
  const follower = spawnVarve(['events', ...own, '--follow', '--json']);
  const shown = () =>
    follower
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).position as string);
  await once(follower.child.stdout ?? follower.child, 'data');
  const ids = [await createCountry('Fiji'), await createCountry('Chad'), await createCountry('Iran')];
  await expect.poll(() => ids.every((id) => follower.output().includes(id))).toBe(true);
  follower.child.kill('SIGINT');
  expect(await follower.exited).toMatchObject({ code: 0 });
  const all = (await linesOf(['--json'])).map((line) => JSON.parse(line).position);
  expect(shown()).toEqual(all);
});

it('ends quietly when its output is closed', async () => {
  const { child, exited } = spawnVarve(['events', ...own]);
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await exited).toMatchObject({ code: 0 });
});

it('refuses an invalid position and a folder without a log', async () => {
  const wrong = await runVarve(['events', ...own, '--from', 'yesterday']);
  expect(wrong).toMatchObject({ code: 1 });
  expect(wrong.stderr).toContain(
    '--from must be a position of the log, which is an integer, got "yesterday"',
  );
  const nowhere = await runVarve(['events', '--data', `${data}/none`]);
  expect(nowhere.stderr).toContain('is not a Varve data directory');
});

it('shows only the last events with --last, also with a filter', async () => {
  const all = await linesOf([]);
  expect(await linesOf(['--last', '2'])).toEqual(all.slice(-2));
  const created = await linesOf(['--type', 'entry-created']);
  expect(await linesOf(['--type', 'entry-created', '--last', '1'])).toEqual(created.slice(-1));
  expect((await runVarve(['events', ...own, '--last', '0'])).stderr).toContain('--last must be an integer');
});

it('refuses a type that no event has, with the types that there are', async () => {
  const { code, stdout, stderr } = await runVarve(['events', ...own, '--type', 'api::country.country']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/--type must be one of entry-created, entry-changed, .*got "api::country\.country"/);
});
