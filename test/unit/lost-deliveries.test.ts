import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nameDeliveriesAfter } from '../../services/read-side/lost-deliveries.ts';
import { openDeliveryStore } from '../../services/webhooks/delivery-store.ts';

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-lost-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Stores a delivery for each position from 1 on, and returns their file. */
function fileWith(count: number): string {
  const folder = folderForTest();
  const store = openDeliveryStore(folder);
  const made = Array.from({ length: count }, (_, n) => ({
    ...{ id: `d${n}`, hook: 'h1', event: 'entry.create' as const, type: 'tag', documentId: `t${n + 1}` },
    ...{ position: BigInt(n + 1), body: '{}' },
  }));
  store.add(made, undefined, 0);
  store.close();
  return join(folder, 'webhooks.db');
}

it('names twenty deliveries, and counts all of them', () => {
  const file = fileWith(31);
  const named = nameDeliveriesAfter(file, 10n);
  expect(named).toContain('21 deliveries of webhooks were made from events after position 10');
  expect(named?.match(/entry\.create of tag t\d+ to h1 \(waiting\)/g)).toHaveLength(20);
  expect(named).toMatch(/tag t30 to h1 \(waiting\), and 1 more/);
  expect(nameDeliveriesAfter(file, 11n)).not.toContain('more');
});

it('names nothing if there is no delivery, no file, or one that cannot be read', () => {
  expect(nameDeliveriesAfter(fileWith(3), 3n)).toBeUndefined();
  const folder = folderForTest();
  expect(nameDeliveriesAfter(join(folder, 'webhooks.db'), 0n)).toBeUndefined();
  writeFileSync(join(folder, 'webhooks.db'), 'not a database');
  expect(nameDeliveriesAfter(join(folder, 'webhooks.db'), 0n)).toBeUndefined();
});
