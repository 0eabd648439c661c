import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * Copies of a server's data, made in every way, and a server on each copy. Writes to a copy stay there, in every state of the original.
 * A run without the long tests only tries the first way and state.
 */
const WAYS = [
  'cp -a of the data directory',
  'cp of events.db alone',
  'backup and restore',
  'export and import',
] as const;
type Way = (typeof WAYS)[number];
type State = 'alive' | 'paused' | 'dead';

const folder = createDataDirectory();
let original: RunningServer;
let documentId: string;
beforeAll(async () => {
  original = await startServer({ data: join(folder, 'original') });
  const ask = createAsk(original.url);
  const body = { data: { key: 'kept', name: 'kept' } };
  await until(async () => (await presence(original.url)).epoch !== null);
  documentId = (await ask('/api/tags', { method: 'POST', body })).body.data.documentId;
}, 300_000);
afterAll(async () => {
  original.signal('SIGCONT');
  await original.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function copy(way: Way, from: string, to: string): Promise<void> {
  // Otherwise the copied file would lack the transactions that are only in the write-ahead log.
  const db = new DatabaseSync(join(from, 'events.db'));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  switch (way) {
    case 'cp -a of the data directory':
      return cpSync(from, to, { recursive: true, preserveTimestamps: true });
    case 'cp of events.db alone':
      mkdirSync(to);
      return cpSync(join(from, 'events.db'), join(to, 'events.db'));
    case 'backup and restore':
      await run('backup', `${to}-backup`, '--data', from);
      return run('restore', `${to}-backup`, '--data', to);
    case 'export and import':
      await run('export', `${to}.jsonl`, '--data', from);
      return run('import', `${to}.jsonl`, '--data', to);
  }
}

async function run(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, `varve ${args.join(' ')}: ${stdout}${stderr}`).toBe(0);
}

async function presence(url: string): Promise<{ readonly owner: string; readonly epoch: number | null }> {
  return (await createAsk(url)('/_varve/leader')).body;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function names(url: string): Promise<readonly string[]> {
  const { body } = await createAsk(url)('/api/tags?sort=name');
  return body.data.map(({ name }: { readonly name: string }) => name);
}

/** Writes to a server on the copy, and checks that the original does not have the writes. */
async function writeToCopy(data: string, state: State): Promise<void> {
  if (state === 'paused') original.signal('SIGSTOP');
  if (state === 'dead') await original.stop('SIGKILL');
  const before = state === 'alive' ? await names(original.url) : undefined;
  const server = await startServer({ data });
  try {
    const ask = createAsk(server.url);
    const body = { data: { key: `written ${state}`, name: `written ${state}` } };
    const made = await ask('/api/tags', { method: 'POST', body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect((await ask(`/api/tags/${documentId}`, { method: 'DELETE' })).status).toBe(204);
    expect(await names(server.url)).toContain(`written ${state}`);
    expect(await names(server.url)).not.toContain('kept');
    expect((await presence(server.url)).epoch).not.toBeNull();
  } finally {
    await server.stop('SIGTERM');
    if (state === 'paused') original.signal('SIGCONT');
    if (state === 'dead') original = await startServer({ data: join(folder, 'original') });
  }
  const after = await names(original.url);
  expect(after).toContain('kept');
  expect(after.filter((name) => name.startsWith('written'))).toEqual([]);
  if (before !== undefined) expect(after).toEqual(before);
}

const CASES = WAYS.flatMap((way) =>
  (['alive', 'paused', 'dead'] as const).map((state) => [way, state] as const),
);

describe('a copy of a log', () => {
  const title = 'made by %s, the original being %s, is a log of its own';
  const isOwn = async (way: Way, state: State) => {
    // A server gives the copied log its own lease, so the next server needs another copy.
    const data = join(folder, `${way} ${state}`.replaceAll(/\W/g, '-'));
    await copy(way, join(folder, 'original'), data);
    await writeToCopy(data, state);
  };
  const [first, more] = [CASES.slice(0, 1), CASES.slice(1)];
  it.each(first)(title, isOwn);
  it.each(more)(title, takesMinutes('ways to copy a log'), isOwn);

  it(
    'can be copied again: a copy of a copy is a separate log too',
    takesMinutes('copies of copies'),
    async () => {
      const [first, second] = [join(folder, 'first'), join(folder, 'second')];
      await copy('cp -a of the data directory', join(folder, 'original'), first);
      const server = await startServer({ data: first });
      await until(async () => (await presence(server.url)).epoch !== null);
      await copy('cp -a of the data directory', first, second);
      const again = await startServer({ data: second });
      const body = { data: { key: 'second', name: 'second' } };
      expect((await createAsk(again.url)('/api/tags', { method: 'POST', body })).status).toBe(201);
      expect(await names(server.url)).not.toContain('second');
      expect(await names(again.url)).toContain('second');
      await Promise.all([server.dispose(), again.dispose()]);
    },
  );
});
