import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory } from '../support/server.ts';

const PAGE = 4_096;

async function createDamaged(damage: (bytes: Buffer) => Buffer): Promise<string> {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const file = join(data, 'events.db');
  const log = openSqliteEventStore(file, { space: 'varve' });
  const metadata = { schemaVersion: 1, at: new Date(0).toISOString(), epoch: 1 };
  const event = (n: number) => ({ id: randomUUID(), type: 'noted', data: { n }, metadata });
  await log.append(
    'varve.notes',
    'none',
    Array.from({ length: 200 }, (_, n) => event(n)),
  );
  await log.close();
  writeFileSync(file, damage(readFileSync(file)));
  return data;
}

const ADVICE = 'restore the last backup to a new data directory with varve restore';
const SERVE = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--port', '0'];

it.each([
  ['is cut', (bytes: Buffer) => bytes.subarray(0, 3 * PAGE)],
  ['is overwritten', (bytes: Buffer) => bytes.fill(7)],
  ['has damaged pages', (bytes: Buffer) => bytes.fill(7, PAGE)],
] as const)('says what to do with a log that %s', async (_what, damage) => {
  const data = await createDamaged(damage);
  const file = join(data, 'events.db');
  const before = readFileSync(file);
  for (const command of [SERVE, ['verify'], ['backup', join(data, 'copy')]]) {
    const { code, stderr } = await runVarve([...command, '--data', data]);
    expect(stderr, command[0]).toContain(file);
    expect(stderr, command[0]).toContain(ADVICE);
    expect(stderr, command[0]).not.toMatch(/\n {4}at /);
    expect(code, command[0]).toBe(1);
  }
  expect(readFileSync(file).equals(before)).toBe(true);
});
