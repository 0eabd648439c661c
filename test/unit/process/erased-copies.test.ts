import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { withScratchDirectory } from '../../../services/operator/scratch-directory.ts';
import type { Varve } from '../../../services/process/open-varve.ts';
import { FULL_ACCESS } from '../../../shared/access/rights.ts';
import { erasureStream } from '../../../shared/erasure/erasure-events.ts';
import { newEvent } from '../../../shared/events/new-event.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { dataForTest } from '../../support/data-for-test.ts';
import { openInProcess } from '../../support/varve-in-process.ts';

const TAG = 'api::tag.tag';

/** Opens Varve, whose pasts have left a snapshot. */
async function open() {
  const data = dataForTest();
  const snapshot = join(data, 'past', '1-1-1.db.zst');
  mkdirSync(join(data, 'past'));
  writeFileSync(snapshot, 'content of before');
  const varve = await openInProcess(data);
  onTestFinished(() => varve.close());
  return { varve, data, hasSnapshot: () => existsSync(snapshot) };
}

async function createTag(varve: Varve, name: string): Promise<string> {
  const type = contentTypeOf(varve.registry, TAG);
  const created = await varve.apiFor(FULL_ACCESS).content.create(type, '', { data: { key: name, name } });
  const { data } = JSON.parse(String(created.body)) as { readonly data: { readonly documentId: string } };
  return data.documentId;
}

function erase({ operator }: Varve, documentId: string) {
  return operator.erase?.({ type: TAG, documentId, confirm: 1 });
}

it('an erasure removes the snapshots of pasts, although nothing has asked to be notified', async () => {
  const { varve, hasSnapshot } = await open();
  const documentId = await createTag(varve, 'erased');
  expect(hasSnapshot()).toBe(true);
  expect(await erase(varve, documentId)).toMatchObject({ erased: true });
  expect(hasSnapshot()).toBe(false);
});

it('an erasure removes the graph that a killed command has left, and not one that is used', async () => {
  const { varve, data } = await open();
  const documentId = await createTag(varve, 'erased');
  const ended = spawnSync(process.execPath, ['--version']);
  const left = join(data, `scratch-${ended.pid}-1`);
  await withScratchDirectory(data, async (scratch) => {
    mkdirSync(left);
    expect(await erase(varve, documentId)).toMatchObject({ erased: true });
    expect([existsSync(left), existsSync(scratch)]).toEqual([false, true]);
  });
});

it('an erasure that waits for the end of a rebuild has ended the pasts before', async () => {
  const { varve, hasSnapshot } = await open();
  const documentId = await createTag(varve, 'erased');
  const { store } = varve.operator.generations;
  const rebuild = store.begin({ graph: true }, new Date().toISOString());
  let ends = 0;
  varve.whenErased(async () => ends++);
  const erased = erase(varve, documentId);
  await expect.poll(() => ends).toBe(1);
  expect(hasSnapshot()).toBe(false);
  // It is tried again meanwhile.
  await delay(1_500);
  expect(ends).toBe(1);
  store.enter(rebuild.id, 'cancelled');
  expect(await erased).toMatchObject({ erased: true });
  expect(ends).toBe(2);
});

it('an order that cannot be carried out delays no other one', async () => {
  const { varve } = await open();
  const gone = { type: 'api::gone.gone', documentId: 'x', reason: null } as const;
  const metadata = { at: new Date().toISOString(), epoch: varve.fleet.epoch() ?? 0 };
  const ordered = newEvent({ type: 'erasure-ordered', data: gone }, metadata);
  await varve.operator.log.append(erasureStream('varve'), 'any', [ordered]);
  for (const name of ['first', 'second']) {
    const documentId = await createTag(varve, name);
    expect(await erase(varve, documentId)).toMatchObject({ erased: true });
  }
});
