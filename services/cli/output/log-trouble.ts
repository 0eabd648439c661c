import type { Logger } from 'pino';
import type { Trouble } from '../../../shared/event-store/event-store.ts';
import { reportTrouble } from '../../stores/report-trouble.ts';

/** Says in the log what the log's server refuses or does not answer, while it goes on trying. */
export const logTrouble = (logger: Pick<Logger, 'warn'>): ((trouble: Trouble) => void) =>
  reportTrouble(({ operation, error, attempt }) => {
    logger.warn(
      { operation, attempt, cause: String(error.cause ?? '') },
      `the event log: ${error.message}; trying again`,
    );
  });
