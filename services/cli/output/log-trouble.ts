import type { Logger } from 'pino';
import type { Trouble } from '../../../shared/event-store/event-store.ts';
import { reportTrouble } from '../../stores/report-trouble.ts';

/** Logs refusals and time-outs of the log's server while it retries. */
export function logTrouble(logger: Pick<Logger, 'warn'>): (trouble: Trouble) => void {
  return reportTrouble(({ operation, error, attempt }) => {
    logger.warn(
      { operation, attempt, cause: String(error.cause ?? '') },
      `the event log: ${error.message}; trying again`,
    );
  });
}
