import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory } from '../support/server.ts';
import { mountSmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';

const skipReason = whyNoSmallDisk();
const options = skipReason === undefined ? {} : { skip: true, meta: { skipReason } };

async function createData(): Promise<string> {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve' });
  const metadata = { schemaVersion: 1, at: new Date(0).toISOString(), epoch: 1 };
  const text = randomBytes(300_000).toString('base64');
  await log.append('varve.notes', 'none', [{ id: randomUUID(), type: 'noted', data: { text }, metadata }]);
  await log.close();
  return data;
}

describe('a full disk', options, () => {
  it('is named by a backup and by a restore, which does not call the backup damaged', async () => {
    const [data, folder] = [await createData(), createDataDirectory()];
    const disk = mountSmallDisk(4);
    if (disk === undefined) throw new Error('nothing can be mounted');
    onTestFinished(() => {
      disk.remove();
      rmSync(folder, { recursive: true, force: true });
    });
    const backup = join(folder, 'backup');
    expect((await runVarve(['backup', backup, '--data', data])).code).toBe(0);
    disk.fill(100_000);
    const failed = await runVarve(['backup', join(disk.path, 'backup'), '--data', data]);
    expect(failed.stderr).toMatch(/cannot copy the database .* to .*full: free some space/);
    rmSync(join(disk.path, 'backup'), { recursive: true });
    const restore = ['restore', backup, '--data', join(disk.path, 'data')];
    const { code, stderr } = await runVarve(restore);
    expect(stderr).toMatch(/cannot write .*events\.db: .*: the disk is full: free some space/);
    expect(stderr).not.toContain('damaged');
    expect([failed.code, code]).toEqual([1, 1]);
    disk.empty();
    expect((await runVarve(restore)).stderr).not.toContain('full');
  });
});
