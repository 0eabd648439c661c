import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentTag } from '../../services/delivery/tag.ts';
import { changesContent } from '../../services/purge/missed-changes.ts';
import { openPurgeNotes } from '../../services/purge/purge-notes.ts';
import { createPurgeSender, PURGE_LIMITS } from '../../services/purge/send-purges.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { createDataDirectory } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 30_000 };

describe('events behind a position', () => {
  const logOf = (count: number, type = 'token-created') => ({
    async *readAll(after: bigint) {
      for (let at = after + 1n; at <= BigInt(count); at += 100n)
        yield Array.from({ length: 100 }, (_, n) => {
          const position = at + BigInt(n);
          return { type, position, stream: 'varve.tokens', data: {}, metadata: {} } as unknown as StoredEvent;
        });
    },
  });

  it('may change content if they concern documents, or if there are more than 10,000', async () => {
    expect(await changesContent(logOf(10_001), 0n, 10_000n)).toBe(false);
    expect(await changesContent(logOf(10_001), 0n, 10_001n)).toBe(true);
    expect(await changesContent(logOf(10_001), 5n, 10_001n)).toBe(false);
    expect(await changesContent(logOf(10, 'entry-changed'), 3n, 4n)).toBe(true);
    expect(await changesContent(logOf(10, 'entry-changed'), 4n, 4n)).toBe(false);
    expect(await changesContent(logOf(10), 5n, 4n)).toBe(true);
  });
});

function fail(problem: unknown): never {
  throw problem;
}

function openNotes(data: string, position: () => bigint, replaced: (file: string) => void) {
  const loaded = loadContentTypes('examples/restaurants');
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return openPurgeNotes({
    data,
    registry: loaded.registry,
    key: new Uint8Array(32),
    rights: () => FULL_ACCESS,
    log: { readAll: async function* () {} },
    position,
    report: { error: fail, replaced },
  });
}

it('purges everything after its file was damaged, and keeps the damaged file', async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const notes = await openNotes(data, () => 1n, fail);
  notes.store.moveCheckpoint('one', notes.store.newest());
  notes.changed(1n, [documentTag('api::chef.chef', 'published', 'c1')]);
  notes.close();
  const file = join(data, 'purges.db');
  writeFileSync(file, readFileSync(file).fill(7, 4_096));
  const replaced: string[] = [];
  const again = await openNotes(
    data,
    () => 1n,
    (each) => void replaced.push(each),
  );
  onTestFinished(again.close);
  expect(replaced).toEqual([file]);
  expect(existsSync(`${file}.damaged`)).toBe(true);
  expect(again.store.hasAllFor('one')).toBe(false);
  expect(again.store.after(0, 10).flatMap(({ names }) => names)).toEqual([again.generation]);
});

it('keeps 100,000 changes for a receiver that does not answer, and purges everything then', {
  ...takesMinutes('100,000 changes that wait'),
  timeout: 120_000,
}, async () => {
  const receiver = await startReceiver();
  receiver.answer(() => ({ status: 503 }));
  let position = 1n;
  const notes = await openNotes(createDataDirectory(), () => position, fail);
  const { store } = notes;
  const target = { kind: 'webhook', address: receiver.url } as const;
  store.moveCheckpoint(`webhook=${receiver.url}`, store.newest());
  const change = () => {
    position += 1n;
    notes.changed(position, [documentTag('api::chef.chef', 'published', `c${position}`)]);
  };
  for (let n = 0; n < 100_000; n++) change();
  expect(store.hasAllFor(`webhook=${receiver.url}`)).toBe(true);
  for (let n = 0; n < 2_000; n++) change();
  expect(store.hasAllFor(`webhook=${receiver.url}`)).toBe(false);
  receiver.answer(() => ({ status: 200 }));
  const report = { replaced: () => {}, purged: () => {}, failed: () => {}, error: fail };
  const style = { soft: false, token: undefined };
  const sender = createPurgeSender({ ...notes, style, limits: PURGE_LIMITS, report }, target);
  onTestFinished(async () => {
    await sender.close();
    notes.close();
    await receiver.close();
  });
  sender.look();
  await receiver.until(1);
  const [first] = receiver.received.map(({ json }) => json['tags'] as string[]);
  expect(first).toEqual(expect.arrayContaining([notes.generation, 'chefs', 'restaurants', 'cities']));
  await expect.poll(() => store.checkpoint(`webhook=${receiver.url}`), PATIENT).toBe(store.newest());
});
