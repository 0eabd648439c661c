import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTENT_TYPES, importDataSet } from '../bench/bench-data.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { runVarve } from '../support/run-varve.ts';
import { spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The move from SQLite to KurrentDB: answers stay the same, with the same numeric ids. */
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
let folder: string;
let file: string;
let lists: ReadonlyMap<string, string>;

type Schema = { readonly kind: string; readonly info: { readonly pluralName: string } };

/** Returns paths of all lists, with all relations, in both worlds. */
const paths = readdirSync(CONTENT_TYPES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('schema.json'))
  .map((name) => JSON.parse(readFileSync(join(CONTENT_TYPES, name), 'utf8')) as Schema)
  .filter(({ kind }) => kind === 'collectionType')
  .flatMap(({ info }) =>
    ['draft', 'published'].map(
      (status) => `/api/${info.pluralName}?populate=*&sort=id&pagination[pageSize]=100&status=${status}`,
    ),
  );

const read = async (data: string, settings: readonly string[] = []) => {
  const server = await startServer({ data, arguments: settings });
  try {
    const read = new Map<string, string>();
    for (const path of paths) read.set(path, await (await fetch(server.url + path)).text());
    return read;
  } finally {
    await server.stop();
    await server.dispose();
  }
};

async function prepare(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'varve-move-'));
  file = join(folder, 'export.jsonl');
  const data = join(folder, 'sqlite');
  importDataSet(data, folder, { restaurants: '70', reviews: '150' });
  expect(await runVarve(['export', file, '--data', data])).toMatchObject({ code: 0 });
  lists = await read(data);
}

describe('the move to KurrentDB', takesMinutes('the move of a log to KurrentDB'), () => {
  beforeAll(prepare, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  it.each(['26.1', '24.2'] as const)('every list is the same on version %s, byte for byte', move);
});

async function move(server: DoubleVersion): Promise<void> {
  const double = await startKurrentDbDouble({ server });
  try {
    const data = join(folder, server);
    const settings = ['--event-store', double.url, '--access-key', ACCESS_KEY];
    const args = ['import', file, '--data', data, ...settings];
    // The first import is killed on the way, and the second continues it.
    const { child, exited } = spawnVarve(args);
    while (double.log.records.length < 1_000) await delay(1);
    child.kill('SIGKILL');
    await exited;
    expect(double.log.records.length).toBeLessThan(4_000);
    const imported = await runVarve(args);
    expect(imported.code, imported.stderr).toBe(0);
    const moved = await read(data, settings);
    expect([...lists.values()].filter((text) => text.includes('"id":')).length).toBeGreaterThan(10);
    expect(moved).toEqual(lists);
  } finally {
    double.stop();
  }
}
