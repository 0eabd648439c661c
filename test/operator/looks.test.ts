import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Commands that only look. They need no server. */
const LOOKS: readonly (readonly string[])[] = [
  ['status', '--json'],
  ['events'],
  ['verify'],
  ['webhook', 'list'],
];
const MORE: readonly (readonly string[])[] = [
  ['status'],
  ['events', '--raw'],
  ['events', '--document', 'none'],
  ['verify', '--json', '--assets'],
  ['parked', 'list'],
  ['parked', 'show', 'none'],
  ['token', 'list'],
  ['synonyms', 'list'],
  ['rules', 'list'],
  ['webhook', 'deliveries'],
];
const LONG = { ...takesMinutes('every command that only looks'), timeout: 300_000 };

/** Returns the digest, size and time of every file of a folder. */
function digestOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const { mode, size, mtimeMs } = statSync(path);
      const content = statSync(path).isDirectory() ? 'folder' : readFileSync(path);
      // The times of a folder change with the scratch folder of verify, which is removed at its end.
      const facts = content === 'folder' ? [mode] : [mode, size, mtimeMs];
      return [name, `${facts.join(' ')} ${createHash('sha256').update(content).digest('hex')}`];
    }),
  );
}

describe('a command that only looks changes no file', () => {
  const stopped = createDataDirectory();
  const killed = createDataDirectory();
  const other = createDataDirectory();

  beforeAll(async () => {
    for (const [data, signal] of [
      [stopped, 'SIGTERM'] as const,
      [killed, 'SIGKILL'] as const,
      [other, 'SIGTERM'] as const,
    ]) {
      const server = await startServer({ data });
      const ask = createAsk(server.url);
      for (const name of ['Norway', 'Peru']) {
        const body = { data: { key: name, name } };
        expect((await ask('/api/countries', { method: 'POST', body })).status).toBe(201);
      }
      await server.stop(signal);
    }
  }, 300_000);
  afterAll(() => {
    for (const data of [stopped, killed, other]) rmSync(data, { recursive: true, force: true });
  });

  const looks = async (...args: readonly string[]) => {
    for (const data of [stopped, killed]) {
      const before = digestOf(data);
      const { code, stdout, stderr } = await runVarve([...args, '--data', data]);
      expect(stderr).not.toMatch(/\n {4}at /);
      if (args[1] !== 'show') expect(code, stdout + stderr).toBe(0);
      expect(digestOf(data)).toEqual(before);
    }
  };
  it.each(LOOKS)('varve %s %s', looks);
  it.each(MORE)('varve %s %s', LONG, looks);

  it('also in a directory that has only the log', LONG, async () => {
    const data = createDataDirectory();
    cpSync(join(stopped, 'events.db'), join(data, 'events.db'));
    const before = digestOf(data);
    for (const args of [...LOOKS, ...MORE]) await runVarve([...args, '--data', data]);
    expect(digestOf(data)).toEqual(before);
    rmSync(data, { recursive: true });
  });

  it('shows the events of a killed server that its graph has', async () => {
    const { stdout } = await runVarve(['status', '--data', killed, '--json']);
    const status = JSON.parse(stdout);
    expect(status.projections[0]).toMatchObject({ lagEvents: 0, documents: 2 });
  });

  it.each([['status'], ['verify'], ['parked', 'list'], ['rollback'], ['drop'], ['rebuild']])(
    'refuses the directory of another log, with both names: %s',
    async (...args) => {
      const log = `sqlite:${join(other, 'events.db')}`;
      const before = digestOf(stopped);
      const { code, stderr } = await runVarve([...args, '--event-store', log, '--data', stopped]);
      expect(code).toBe(1);
      expect(stderr).toContain(`sqlite:${join(stopped, 'events.db')}`);
      expect(stderr).toContain(log);
      expect(digestOf(stopped)).toEqual(before);
    },
  );

  it('refuses the directory of another log that no server has recorded', async () => {
    const data = createDataDirectory();
    cpSync(stopped, data, { recursive: true, preserveTimestamps: true });
    rmSync(join(data, 'log.json'));
    const before = digestOf(data);
    const log = `sqlite:${join(other, 'events.db')}`;
    const { code, stderr } = await runVarve(['status', '--event-store', log, '--data', data]);
    expect({ code, before }).toEqual({ code: 1, before: digestOf(data) });
    expect(stderr).toContain(join(data, 'graph.db'));
    expect(stderr).toContain(log);
    rmSync(data, { recursive: true });
  });

  it('reads --event-store and --space from the directory', async () => {
    const [data, place] = [createDataDirectory(), createDataDirectory()];
    const log = join(place, 'shared.db');
    const server = await startServer({
      data,
      arguments: ['--event-store', `sqlite:${log}`, '--space', 'blog'],
    });
    await createAsk(server.url)('/api/countries', {
      method: 'POST',
      body: { data: { key: 'a', name: 'a' } },
    });
    const running = JSON.parse((await runVarve(['status', '--json', '--data', data])).stdout);
    await server.stop();
    const [status, events] = await Promise.all([
      runVarve(['status', '--json', '--data', data]),
      runVarve(['events', '--data', data]),
    ]);
    expect(running.space).toBe('blog');
    expect(JSON.parse(status.stdout)).toMatchObject({ space: 'blog', projections: [{ documents: 1 }] });
    expect(events.stdout).toContain('entry-created');
    expect(existsSync(join(data, 'events.db'))).toBe(false);
    for (const folder of [data, place]) rmSync(folder, { recursive: true });
  }, 300_000);
});
