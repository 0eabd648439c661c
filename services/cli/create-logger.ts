import type { Logger } from 'pino';
import type { ServeSettings } from './settings.ts';

/** Logs to stderr, so that stdout is for people: JSON lines, or readable ones on a terminal. */
export async function createLogger({
  logLevel,
  logFormat,
}: Pick<ServeSettings, 'logLevel' | 'logFormat'>): Promise<Logger> {
  const { pino } = await import('pino');
  const format = logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
  if (format === 'json') return pino({ level: logLevel }, pino.destination({ fd: 2, sync: true }));
  const { PinoPretty } = await import('pino-pretty');
  return pino({ level: logLevel }, PinoPretty({ destination: 2, sync: true, ignore: 'pid,hostname' }));
}
