import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { mountSmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const skipReason = whyNoSmallDisk();
const options =
  skipReason === undefined ? takesMinutes('a full disk of deliveries') : { skip: true, meta: { skipReason } };

/** A text that is larger than the free space in the file, so that it must grow. */
const BIG = 'x'.repeat(200_000);
const EDITS = 10;

describe('a full disk of deliveries', options, () => {
  it.each(['kept running', 'killed and started again'])(
    'a server that is %s answers, and delivers everything when there is space',
    {
      timeout: 240_000,
    },
    async (what) => {
      const disk = mountSmallDisk(8);
      if (disk === undefined) throw new Error('nothing can be mounted');
      const data = createDataDirectory();
      // Only the file of webhooks is on the small disk, so the log and the graph have space.
      symlinkSync(join(disk.path, 'webhooks.db'), join(data, 'webhooks.db'));
      const receiver = await startReceiver();
      let server: RunningServer = await startServer({ data });
      onTestFinished(async () => {
        await server.dispose();
        await receiver.close();
        disk.remove();
        rmSync(data, { recursive: true, force: true });
      });
      const api = () => createApiClient(server.url);
      await api().data('POST', '/_varve/webhooks', { data: { url: receiver.url, allowPrivate: true } });
      const { documentId } = await api().data<{ documentId: string }>('POST', '/api/reviews', {
        data: { key: 'k' },
      });
      await receiver.until(1);
      // The other files of SQLite on this disk grow at the same time.
      disk.fill(100_000);
      for (let n = 0; n < EDITS; n++) {
        const path = `/api/reviews/${documentId}`;
        expect((await api().call('PUT', path, { data: { text: `${n} ${BIG}` } })).status).toBe(200);
        expect((await api().call('GET', path)).status).toBe(200);
      }
      await expect
        .poll(server.output, { timeout: 60_000 })
        .toContain('deliveries of webhooks have stopped for now, because of an error');
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBeLessThan(EDITS);
      if (what !== 'kept running') await server.stop('SIGKILL');
      disk.empty();
      if (what !== 'kept running') server = await startServer({ data });
      const distinct = () => [...new Map(receiver.received.map((one) => [one.id, one])).values()];
      await expect.poll(() => distinct().length, { timeout: 120_000 }).toBe(EDITS + 1);
      expect(distinct().map(({ json }) => String(json.entry?.['text']).split(' ')[0])).toEqual([
        'null',
        ...Array.from({ length: EDITS }, (_, n) => String(n)),
      ]);
    },
  );
});
