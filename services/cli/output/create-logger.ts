import { Writable } from 'node:stream';
import type { Logger, LoggerOptions } from 'pino';
import { REDACTING } from '../../operating/redact-secrets.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { createLogSink } from './log-sink.ts';

/** Gets what is logged. */
export type Logged = (details: unknown, message: unknown) => void;

/**
 * Creates a logger without secrets. It writes JSON lines, or readable lines on a terminal, to stderr: stdout is for people. `logged` also gets
 * each line.
 */
export async function createLogger(
  { logLevel, logFormat }: Pick<ServeSettings['operating'], 'logLevel' | 'logFormat'>,
  logged?: Logged,
): Promise<Logger> {
  const { pino } = await import('pino');
  const format = logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const options: LoggerOptions = { level: logLevel, ...REDACTING };
  if (logged !== undefined)
    options.hooks = {
      logMethod(line, log) {
        logged(line[0], line[1]);
        log.apply(this, line);
      },
    };
  // Errors such as that of a closed pipe are ignored. Opening stderr as a stream keeps writes to its pipe from waiting for the reader.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const sink = createLogSink(process.stderr.fd);
  if (format === 'json') return pino(options, sink);
  const { PinoPretty } = await import('pino-pretty');
  const destination = new Writable({
    write(chunk, _encoding, done) {
      sink.write(String(chunk));
      done();
    },
  });
  return pino(options, PinoPretty({ destination, ignore: 'pid,hostname' }));
}

/** Creates the logger of a command, which logs warnings and errors only. `logged` also gets each of them. */
export function quietLogger(logged?: Logged): Promise<Logger> {
  return createLogger({ logLevel: 'warn', logFormat: undefined }, logged);
}
