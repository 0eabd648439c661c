import type { Logger } from 'pino';
import type { PurgeReport } from '../../purge/send-purges.ts';

/** Logs purges of caches. */
export function logPurges(logger: Logger): PurgeReport {
  return {
    purged: ({ kind }, count) => logger.debug({ receiver: kind, tags: count }, 'tags were purged'),
    failed: ({ kind }, reason) =>
      logger.warn({ receiver: kind, reason }, 'a cache was not purged: trying again'),
    error: (error) => logger.error({ err: error }, 'caches are not purged for now'),
  };
}

/** The token with public answers, and a warning when its answers become private. */
export function logCacheToken(name: string | undefined, logger: Logger) {
  if (name === undefined) return undefined;
  return {
    name,
    refused: (problem: string) => logger.warn(`answers to --cache-token are private now: ${problem}`),
  };
}

/** Warns that the leader does not hear of this process. */
export function logUnreported(logger: Logger): (error: unknown) => void {
  return (error) =>
    logger.warn(
      { reason: String(error) },
      'this process cannot report itself: caches keep none of its answers',
    );
}
