import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect, it, onTestFinished } from 'vitest';
import { openWebhooks, type WebhooksOptions } from '../../../services/webhooks/open-webhooks.ts';
import { WEBHOOK_LIMITS } from '../../../services/webhooks/webhook-limits.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { createDataDirectory } from '../../support/server.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';

it(
  'reads the lease repeatedly without keeping memory of each read',
  takesMinutes('memory of the lease that is read'),
  async () => {
    const log = openSqliteEventStore(':memory:', { space: 'varve' });
    let looks = 0;
    const options: Partial<WebhooksOptions> = {
      log,
      space: 'varve',
      data: createDataDirectory(),
      limits: WEBHOOK_LIMITS,
      metrics: undefined,
      commands: { key: new Uint8Array(32), author: () => ({}) },
      fleet: {
        epoch: () => undefined,
        async changed() {
          looks++;
          await nextTurn();
        },
      },
      report: {
        attempted: () => {},
        replaced: () => {},
        error(error) {
          throw error;
        },
      },
    };
    const webhooks = await openWebhooks(options as WebhooksOptions);
    onTestFinished(async () => {
      await webhooks.close();
      await log.close();
    });
    const promisesAfter = async (count: number) => {
      const until = looks + count;
      await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(until);
      return queryObjects(Promise, { format: 'count' });
    };
    const before = await promisesAfter(10);
    expect((await promisesAfter(2_000)) - before).toBeLessThan(1_000);
  },
);
