import type { Logger } from 'pino';
import type { ReportReplaced } from '../../read-side/replace-unusable.ts';

const WHAT = 'a file of the read model cannot be used and is made from the log again';

/** Logs which file of the read model is made again. */
export function logReplaced(logger: Logger): ReportReplaced {
  return (file, reason) => logger.warn({ file, reason }, WHAT);
}

/** The same on stderr, of a command. */
export function printReplaced(file: string, reason: string): void {
  console.error(`${WHAT}: ${file}, as ${reason}`);
}
