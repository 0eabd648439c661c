import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentTag } from '../../services/delivery/tag.ts';
import { openPurgeNotes } from '../../services/purge/purge-notes.ts';
import { createPurgeSender, PURGE_LIMITS } from '../../services/purge/send-purges.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { createDataDirectory } from '../support/server.ts';
import { mountSmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const skipReason = whyNoSmallDisk();
const options = skipReason === undefined ? {} : { skip: true, meta: { skipReason } };
const PATIENT = { timeout: 30_000 };
const CHEF = 'api::chef.chef';

async function startPurging(data: string) {
  const loaded = loadContentTypes('examples/restaurants');
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const receiver = await startReceiver();
  const errors: unknown[] = [];
  let position = 1n;
  const notes = await openPurgeNotes({
    data,
    registry: loaded.registry,
    key: new Uint8Array(32),
    rights: () => FULL_ACCESS,
    events: { after: async function* () {} },
    position: () => position,
    report: { error: (error) => errors.push(error), replaced: () => {} },
  });
  const target = { kind: 'webhook', address: receiver.url } as const;
  const report = {
    replaced: () => {},
    purged: () => {},
    failed: () => {},
    error: () => {},
  };
  const limits = { ...PURGE_LIMITS, gatherMs: 1, backoff: { firstMs: 1, longestMs: 5 } };
  const sender = createPurgeSender(
    { ...notes, style: { soft: false, token: undefined }, limits, report },
    target,
  );
  notes.lead({ isLeading: () => true, moved: sender.look, isKnown: true });
  onTestFinished(async () => {
    await sender.close();
    await receiver.close();
    notes.close();
  });
  return {
    errors,
    lost: notes.lost,
    isWhole: notes.isWhole,
    generation: notes.generation,
    change(documentId: string) {
      position += 1n;
      notes.changed(position, [documentTag(CHEF, 'published', documentId)]);
    },
    /** Waits for a request with all of these tags. */
    until: (tags: readonly string[], from: number) =>
      expect
        .poll(
          () =>
            receiver.received
              .slice(from)
              .some(({ json }) => tags.every((tag) => (json['tags'] as string[]).includes(tag))),
          PATIENT,
        )
        .toBe(true),
    count: () => receiver.received.length,
  };
}

it('purges all answers while the disk is full, and changed answers afterwards', options, async () => {
  const disk = mountSmallDisk(2);
  if (disk === undefined) throw new Error('nothing can be mounted');
  onTestFinished(disk.remove);
  const { errors, generation, change, until, count } = await startPurging(disk.path);
  await until([generation], 0);
  change('a');
  await until(['chefs:a'], 0);
  disk.fill();
  let from = count();
  // A change that fits into the file's free space is stored. The disk is full for a later one.
  for (let n = 0; errors.length === 0; n++) change(`b${n}-${'x'.repeat(90)}`);
  await until([generation, 'chefs', 'restaurants'], from);
  expect(String(errors[0])).toMatch(/full/);
  disk.empty();
  from = count();
  change('c');
  // The tags of changes that were not stored are unknown.
  await until([generation, 'chefs'], from);
  change('d');
  await until(['chefs:d'], from);
});

describe('while another process has locked the file', () => {
  async function startLocked() {
    const data = createDataDirectory();
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const started = await startPurging(data);
    await started.until([started.generation], 0);
    const other = new DatabaseSync(join(data, 'purges.db'));
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    return { ...started, from: started.count(), unlock: () => other.exec('COMMIT') };
  }

  it('changes wait for a short time', async () => {
    const { errors, lost, isWhole, change, until, count, from, unlock } = await startLocked();
    for (const id of ['a', 'b', 'c']) change(id);
    await delay(200);
    expect([isWhole(), count() - from]).toEqual([false, 0]);
    unlock();
    for (const id of ['a', 'b', 'c']) await until([`chefs:${id}`], from);
    expect([isWhole(), lost(), errors]).toEqual([true, 0, []]);
  });

  it('all answers are purged, and again when the file can be written', async () => {
    const { errors, lost, isWhole, generation, change, until, count, from, unlock } = await startLocked();
    for (const id of ['a', 'b', 'c']) change(id);
    await until([generation, 'chefs', 'restaurants'], from);
    change('d');
    expect(errors.map(String)).toEqual([expect.stringContaining('locked')]);
    expect([lost(), isWhole()]).toEqual([4, false]);
    const before = count();
    unlock();
    await expect.poll(isWhole, PATIENT).toBe(true);
    await until([generation, 'chefs'], before);
    change('e');
    await until(['chefs:e'], before);
    expect([errors.length, lost()]).toEqual([1, 4]);
  });
});
