import type { Logger } from 'pino';
import type { WebhookReport } from '../../webhooks/term-options.ts';

/** Logs trouble with webhooks. */
export function logWebhooks(logger: Logger): WebhookReport {
  return {
    error: (error) => logger.error({ err: error }, 'webhooks are not delivered for now'),
    attempted({ id, hook, attempts }, { state, status, error }) {
      const facts = { delivery: id, hook, attempt: attempts + 1, status };
      if (state === 'delivered') logger.debug(facts, 'webhook delivered');
      else if (state === 'waiting')
        logger.warn({ ...facts, reason: error }, 'a delivery failed: it will be sent again');
      else
        logger.error(
          { ...facts, reason: error },
          'a webhook was parked: varve webhook replay sends it again',
        );
    },
  };
}
