import type { Logger } from 'pino';
import { REDACTING } from '../operating/redact-secrets.ts';
import type { ServeSettings } from './settings.ts';

/** Logs to stderr, so that stdout is for people: JSON lines, or readable ones on a terminal. Secrets are left out. */
export async function createLogger({
  logLevel,
  logFormat,
}: Pick<ServeSettings, 'logLevel' | 'logFormat'>): Promise<Logger> {
  const { pino } = await import('pino');
  const format = logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const options = { level: logLevel, ...REDACTING };
  if (format === 'json') return pino(options, pino.destination({ fd: 2, sync: true }));
  const { PinoPretty } = await import('pino-pretty');
  return pino(options, PinoPretty({ destination: 2, sync: true, ignore: 'pid,hostname' }));
}
