import type { Logger } from 'pino';
import type { Trouble } from '../../../shared/event-store/event-store.ts';
import { isBusy, isDamaged } from '../../../shared/sqlite/failures.ts';
import type { PurgeReport } from '../../purge/send-purges.ts';
import type { ReportReplaced } from '../../read-side/replace-unusable.ts';
import type { ReleaseReport } from '../../releases/release-term.ts';
import type { SearchLogReport } from '../../searches/open-search-log.ts';
import { reportTrouble } from '../../stores/report-trouble.ts';
import type { WebhookReport } from '../../webhooks/term-options.ts';

/** Logs purges of caches. */
export function logPurges(logger: Logger): PurgeReport {
  return {
    purged: ({ kind }, count) => logger.debug({ receiver: kind, tags: count }, 'purged tags'),
    failed: ({ kind }, reason) => logger.warn({ receiver: kind, reason }, 'a purge failed: trying again'),
    error: (error) => logger.error({ err: error }, stopped('purges', 'all answers are purged', error)),
    replaced: (file) =>
      logger.warn({ file, kept: `${file}.damaged` }, 'a damaged file is replaced: all answers are purged'),
  };
}

/** Returns the name of the token with public answers, and a function that warns when its answers become private. */
export function logCacheToken(name: string | undefined, logger: Logger) {
  if (name === undefined) return undefined;
  return {
    name,
    refused: (problem: string) => logger.warn(`answers to --cache-token are private now: ${problem}`),
  };
}

/** Warns that this process cannot read whether the leader purges caches. */
export function logUnwatched(logger: Logger): (error: unknown) => void {
  return (error) =>
    logger.warn(
      { reason: String(error) },
      'it cannot be read whether the leader purges caches: caches may not keep answers of this process',
    );
}

/** Logs problems of the counts of searches. It logs no words. */
export function logSearches(logger: Logger): SearchLogReport {
  return {
    replaced: (file) =>
      logger.warn(
        { file, kept: `${file}.damaged` },
        'a damaged file is replaced: the counts of searches start again',
      ),
    failed: (error) => logger.warn({ err: error }, 'counts of searches could not be written: trying again'),
  };
}

/** Logs deliveries of webhooks and their problems. */
export function logWebhooks(logger: Logger): WebhookReport {
  return {
    error: (error) =>
      logger.error(
        { err: error },
        stopped('deliveries of webhooks', 'unfinished deliveries are sent again', error),
      ),
    replaced: (file) =>
      logger.warn(
        { file, kept: `${file}.damaged` },
        'a damaged file is replaced: deliveries that the log does not list as done are sent again',
      ),
    attempted({ id, hook, attempts }, { state, status, error }) {
      const facts = { delivery: id, hook, attempt: attempts + 1, status };
      if (state === 'delivered') logger.debug(facts, 'delivered a webhook');
      else if (state === 'waiting')
        logger.warn({ ...facts, reason: error }, 'a delivery of a webhook failed: it will be sent again');
      else
        logger.error(
          { ...facts, reason: error },
          'a delivery of a webhook was parked: varve webhook replay sends it again',
        );
    },
  };
}

/** Logs scheduled releases that were carried out or failed, and problems of the scheduler. */
export function logReleases(logger: Logger): ReleaseReport {
  return {
    error: (error) =>
      logger.error({ err: error }, 'scheduled releases have stopped for now, because of an error'),
    ended({ id, name, scheduledAt, failure, lateMs, actions }) {
      const facts = { release: id, name, scheduledAt };
      if (failure !== null)
        logger.error(
          { ...facts, problems: failure.problems },
          'a scheduled release failed: nothing of it was published',
        );
      else if (lateMs !== null && lateMs > LATE_MS)
        logger.warn(
          { ...facts, entries: actions.length, lateMs },
          'a scheduled release was carried out late',
        );
      else logger.info({ ...facts, entries: actions.length, lateMs }, 'a scheduled release was carried out');
    },
  };
}

/** From this delay on a release was late because no leader ran at its time. */
const LATE_MS = 5_000;

/** Says what has stopped, and what to do if its file is damaged. `after`: the effect of a new file. */
function stopped(what: 'purges' | 'deliveries of webhooks', after: string, error: unknown): string {
  if (isBusy(error)) return `${what} wait: another process has locked a file that they need`;
  if (!isDamaged(error)) return `${what} have stopped for now, because of an error`;
  const file = what === 'purges' ? 'purges.db' : 'webhooks.db';
  return `${what} have stopped: ${file} in the data directory is damaged. Stop the server, remove the file and start again: ${after}`;
}

/** Logs refusals and time-outs of the log's server that are retried. */
export function logTrouble(logger: Pick<Logger, 'warn'>): (trouble: Trouble) => void {
  return reportTrouble(({ operation, error, attempt }) => {
    logger.warn(
      { operation, attempt, cause: String(error.cause ?? '') },
      `the event log: ${error.message}; trying again`,
    );
  });
}

const WHAT = 'a file of the read model cannot be used: it is rebuilt from the log';

/** Logs which file of the read model is rebuilt. */
export function logReplaced(logger: Logger): ReportReplaced {
  return (file, reason) => logger.warn({ file, reason }, WHAT);
}

/** Prints which file of the read model is rebuilt, for a command. */
export function printReplaced(file: string, reason: string): void {
  console.error(`${WHAT}: ${file}: ${reason}`);
}
