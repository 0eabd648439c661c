import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { checkFollowed, followFromNow } from '../support/follow-feed.ts';
import { nextWorker, replaced } from '../support/replaced-workers.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import {
  addWebhook,
  checkReceived,
  createEditWriter,
  startReceiverProcess,
} from '../support/webhook-edits.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** During a hand-over, both workers have the file of deliveries open. */
describe(
  'webhooks while one worker hands over to the next',
  takesMinutes('webhooks over a hand-over'),
  () => {
    it.each(['steps down', 'is paused', 'is killed'])(
      'are not lost, and arrive in order, when the first one %s',
      { timeout: 240_000 },
      async (what) => {
        const receiver = await startReceiverProcess();
        const server = await startServer();
        onTestFinished(() => server.dispose());
        await addWebhook(server.url, receiver.url);
        const feed = await followFromNow(() => server.url);
        const writer = await createEditWriter(() => server.url);
        for (let round = 0; round < 2; round++) {
          const first = server.worker() ?? 0;
          const handOver = async () => {
            await delay(Math.random() * 50);
            process.kill(server.supervisor, 'SIGHUP');
            if (what !== 'steps down') {
              await nextWorker(server);
              process.kill(first, what === 'is paused' ? 'SIGSTOP' : 'SIGKILL');
            }
            await replaced(server, first);
          };
          let isOver = false;
          const write = async () => {
            while (!isOver) await writer.write(5);
          };
          const handed = handOver().finally(() => {
            isOver = true;
          });
          await Promise.all([write(), handed]);
          await writer.write(5);
        }
        await checkReceived(receiver, writer.written());
        await checkFollowed(feed, writer.written());
      },
    );

    it('are sent again if they were in flight, before later ones of their document', async () => {
      const receiver = await startReceiver();
      const server = await startServer();
      onTestFinished(async () => {
        await server.dispose();
        await receiver.close();
      });
      receiver.answer((_one, count) => ({ status: 200, ...(count === 1 && { hangs: true }) }));
      await addWebhook(server.url, receiver.url);
      const api = createApiClient(server.url);
      const { documentId } = await api.data<{ documentId: string }>('POST', '/api/tags', {
        data: { key: 'a' },
      });
      await api.data('PUT', `/api/tags/${documentId}`, { data: { key: 'b' } });
      await receiver.until(1);
      const first = server.worker() ?? 0;
      process.kill(server.supervisor, 'SIGHUP');
      await replaced(server, first);
      const [hung, again, later] = await receiver.until(3);
      expect([again?.id, again?.body]).toEqual([hung?.id, hung?.body]);
      expect([again?.json.entry?.['key'], later?.json.entry?.['key']]).toEqual(['a', 'b']);
    });
  },
);
