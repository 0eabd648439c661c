import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimLease } from '../../services/fleet/claim-lease.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import { importExport } from '../../services/transfer/import-export.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';

let folder: string;
let log: EventStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-import-'));
  log = openSqliteEventStore(join(folder, 'events.db'), { space: 'varve' });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

const METADATA = { schemaVersion: 2, at: '2026-03-04T05:06:07.089Z', epoch: 0 };
const deleted = {
  ...{ stream: 'api_tag_tag-a', revision: 0, id: '0f6e2c1a-7a0e-4b6c-9a57-0d5ce0e6a101' },
  ...{ type: 'entry-deleted', data: { type: 'api::tag.tag', documentId: 'a', locale: null } },
  metadata: METADATA,
};
const second = { ...deleted, revision: 1, id: '0f6e2c1a-7a0e-4b6c-9a57-0d5ce0e6a102' };

/** Returns the lines of an export with a correct checksum. */
function fileOf(...events: readonly object[]): readonly string[] {
  const lines = [{ varve: 'export', format: 1, space: 'varve' }, ...events].map((line) =>
    JSON.stringify(line),
  );
  const sha256 = createHash('sha256')
    .update(`${lines.join('\n')}\n`)
    .digest('hex');
  return [...lines, JSON.stringify({ end: true, events: events.length, sha256 })];
}

const importLines = (lines: readonly string[]) =>
  importExport({
    log,
    space: 'varve',
    lines: async function* () {
      yield* lines;
    },
    onEvents: () => {},
  });

it('imports a file whose events are valid', async () => {
  expect(await importLines(fileOf(deleted, second))).toBe(2);
});

it.each([
  [
    'of a type that is not known',
    { ...second, type: 'entry-archived' },
    /line 3 .*unknown type of event: a newer version/,
  ],
  ['of a newer version', { ...second, metadata: { ...METADATA, schemaVersion: 3 } }, /line 3 .*of version 3/],
  ['with other fields', { ...second, data: { ...deleted.data, by: 'x' } }, /line 3 .*Unrecognized key/],
  ['whose data is a text', { ...second, data: 'x' }, /line 3 .*not a JSON object/],
  ['with an epoch that is a text', { ...second, metadata: { ...METADATA, epoch: '1' } }, /line 3/],
  ['with no metadata of Varve', { ...second, metadata: {} }, /line 3/],
])('refuses a file with an event %s, and writes nothing', async (_name, event, message) => {
  await expect(importLines(fileOf(deleted, event))).rejects.toThrow(message);
  expect(await log.lastPosition()).toBe(0n);
});

it('stores nothing after the claim of another process, if it was paused', async () => {
  const now = () => new Date().toISOString();
  const store = log;
  let claimed = false;
  log = {
    ...store,
    async appendInOrder(appends, condition) {
      // Another process claims the lease between the import's own claim and its first event.
      claimed = true;
      const claimant = { log: store, space: 'varve', owner: 'other', address: 'http://127.0.0.1:9', now };
      await claimLease(claimant, await readLease(store, 'varve'));
      return store.appendInOrder(appends, condition);
    },
  };
  const events = [deleted, second].map((event) => ({ ...event, metadata: { ...METADATA, epoch: 3 } }));
  await expect(importLines(fileOf(...events))).rejects.toThrow(/another process/);
  expect(claimed).toBe(true);
  const stored = [];
  for await (const events of store.readAll(0n)) stored.push(...events.map(({ type }) => type));
  expect(stored).not.toContain('entry-deleted');
});

it('fails if the log has the events in another order at the end, and says so', async () => {
  const store = log;
  const third = { ...deleted, stream: 'api_tag_tag-b', id: '0f6e2c1a-7a0e-4b6c-9a57-0d5ce0e6a103' };
  log = {
    ...store,
    appendInOrder: (appends, condition) => store.appendInOrder(appends.toReversed(), condition),
  };
  await expect(importLines(fileOf(deleted, third))).rejects.toThrow(/in another order than the file/);
});
