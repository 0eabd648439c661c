import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('shows the history of a document, the same while a server runs and after', async () => {
  const documentId = await createCountry('Norway');
  await ask(`/api/countries/${documentId}`, { method: 'PUT', body: { data: { name: 'Norge' } } });
  const running = await linesOf(['--document', documentId]);
  await server.stop();
  expect(await linesOf(['--document', documentId])).toEqual(running);
  server = await startServer({ data });
  expect(running.map((line) => line.trim().split(/\s+/)[2])).toEqual(['entry-created', 'entry-changed']);
  expect(running.at(-1)).toMatch(/api::country\.country +\S+ +name = "Norge"$/);
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

it('goes on with what happens, in order, until it is interrupted', async () => {
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

it('ends quietly when nobody reads on', async () => {
  const { child, exited } = spawnVarve(['events', ...own]);
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await exited).toMatchObject({ code: 0 });
});

it('refuses what is no position and what is no log', async () => {
  const wrong = await runVarve(['events', ...own, '--from', 'yesterday']);
  expect(wrong).toMatchObject({ code: 1 });
  expect(wrong.stderr).toContain('--from "yesterday" is no position');
  const nowhere = await runVarve(['events', '--data', `${data}/none`]);
  expect(nowhere.stderr).toContain('there is no log in');
});
