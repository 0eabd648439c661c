import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { count } from '../support/takes-minutes.ts';
import { readAll } from './event-store-fixtures.ts';

const KILLS = Number(process.env['VARVE_TEST_KILLS'] ?? count(8, 3));

let directory: string;
let log: string;
let acknowledgedFile: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'varve-crash-'));
  log = join(directory, 'log.db');
  acknowledgedFile = join(directory, 'acknowledged.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test(`kill -9 during concurrent appends, ${KILLS} times on one log: no acknowledged append is lost, none is incomplete`, {
  timeout: 300_000,
}, async () => {
  let before = 0;
  for (let round = 0; round < KILLS; round += 1) {
    await appendAndKill(5 + ((round * 17) % 60));
    const events = await reopenAndRead();
    expect(events.length).toBeGreaterThan(before);
    before = events.length;
    expectWholeAppends(events);
    expectNoGaps(events);
    expectAcknowledged(events);
  }
});

/** Lets the child append for some milliseconds after its first acknowledgement, then kills it. */
const appendAndKill = async (milliseconds: number): Promise<void> => {
  const child = join(import.meta.dirname, '../support/append-until-killed.ts');
  const running = spawn(process.execPath, [child, log, acknowledgedFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(running, 'exit');
  await Promise.race([once(running.stdout, 'data'), exited]);
  await delay(milliseconds);
  running.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
};

const reopenAndRead = async (): Promise<StoredEvent[]> => {
  const store = openSqliteEventStore(log, { space: 'varve' });
  try {
    return await readAll(store);
  } finally {
    await store.close();
  }
};

type Written = { readonly append: string; readonly index: number; readonly of: number };

const expectWholeAppends = (events: readonly StoredEvent[]): void => {
  const appends = Map.groupBy(events, (event) => (event.data as Written).append);
  for (const [append, members] of appends) {
    const written = members.map((event) => event.data as Written);
    const expected = Array.from({ length: written[0]?.of ?? 0 }, (_, index) => index);
    expect({ append, indices: written.map(({ index }) => index) }).toEqual({ append, indices: expected });
  }
};

const expectNoGaps = (events: readonly StoredEvent[]): void => {
  for (const [stream, members] of Map.groupBy(events, (event) => event.stream)) {
    const gap = members.findIndex((event, n) => event.revision !== BigInt(n));
    expect({ stream, gap }).toEqual({ stream, gap: -1 });
  }
};

const expectAcknowledged = (events: readonly StoredEvent[]): void => {
  expect(existsSync(acknowledgedFile)).toBe(true);
  const lines = readFileSync(acknowledgedFile, 'utf8').split('\n').slice(0, -1);
  const stored = new Map(events.map((event) => [`${event.stream}@${event.revision}`, event.data as Written]));
  const lost = lines.filter((line) => {
    const { append, of, stream, revision } = JSON.parse(line);
    const last = stored.get(`${stream}@${revision}`);
    return last?.append !== append || last?.index !== of - 1;
  });
  expect(lines.length).toBeGreaterThan(0);
  expect(lost).toEqual([]);
};
