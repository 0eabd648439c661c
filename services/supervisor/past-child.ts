import { runBelow } from './builder-process.ts';

/** First argument of a process that serves a past for the server that started it. The server's own command line follows. */
export const PAST_ARGUMENT = 'past';

let isPastProcess = false;

/** Returns whether a server has started this process to serve a past. */
export function isPast(): boolean {
  return isPastProcess;
}

/** Makes this process serve a past for a server. `server`: see `runBelow`. */
export function becomePast(server: string | undefined): void {
  isPastProcess = true;
  runBelow(server);
  // The process that started this one kills it after a signal from a terminal.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}
