import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { HELD_BY_COMMAND } from '../../../shared/sqlite/lock-data-directory.ts';

const PAUSE_MS = 100;

/**
 * Locks the data directory of a server. Waits while a command has it, because a command ends by itself, and logs for which process it waits.
 * Rejects at once if another server has it.
 */
export async function lockAfterCommand(
  lock: () => Promise<void>,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  let logged: string | undefined;
  for (;;) {
    try {
      return await lock();
    } catch (error) {
      const { code, message: reason } = error as NodeJS.ErrnoException;
      if (code !== HELD_BY_COMMAND) throw error;
      if (reason !== logged) logger.warn({ reason }, 'a command has the data directory: waiting for its end');
      logged = reason;
    }
    await delay(PAUSE_MS);
  }
}
