import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into every Node process that tests start (NODE_OPTIONS in vitest.config.ts). If a process ends with an unhandled rejection or an
 * uncaught exception, or has contained one of a request, it adds a report to the file that CRASH_REPORTS names. closing-line-reporter.ts counts the reports as failures.
 */
const file = process.env['CRASH_REPORTS'];
if (isMainThread && file !== undefined) {
  const add = (error: unknown, origin: string) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const crash = { command: process.argv.slice(1).join(' '), origin, reason };
    appendFileSync(file, `${JSON.stringify(crash)}\n`);
  };
  process.on('uncaughtExceptionMonitor', add);
  subscribe('varve:contained-failure', (error) => add(error, 'contained failure'));
}
