import { lowerPriority } from './builder-process.ts';
import { refuseIncompatible } from './protocol.ts';

/** First argument of a process that serves a past for the server that started it. The server's own command line follows. */
export const PAST_ARGUMENT = 'past';

let isPastProcess = false;

/** Returns whether a server has started this process to serve a past. */
export function isPast(): boolean {
  return isPastProcess;
}

/**
 * Makes this process end with the one that started it, and run after the processes that serve the present. `server`: COMPATIBILITY of the
 * program that started it. If it differs, this process ends.
 */
export function becomePast(server: string | undefined): void {
  isPastProcess = true;
  try {
    refuseIncompatible(server);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
  lowerPriority();
  // The process that started this one kills it after a signal from a terminal.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.once('disconnect', () => process.exit(1));
  if (!process.connected) process.exit(1);
}
