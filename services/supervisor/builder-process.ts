import { existsSync, readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { refuseIncompatible } from './protocol.ts';

/** First argument of a command that runs for the server that started it. */
export const BUILDER_ARGUMENT = 'builder';

/** Low priority: processes that answer requests come first if processors are few. */
const LOW_PRIORITY = 10;

let isBuilderProcess = false;

/** Returns whether a server has started this process. The server does the remaining steps when this process ends. */
export function isBuilder(): boolean {
  return isBuilderProcess;
}

/** Makes this process a command of low priority of a server. `server`: COMPATIBILITY of the program that started it. If it differs, this process ends. */
export function becomeBuilder(server: string | undefined): void {
  isBuilderProcess = true;
  runBelow(server);
  // The process ends by itself when it is done.
  process.channel?.unref();
  // A signal from a terminal is meant for the server, which then ends this process.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
}

/**
 * Makes this process end with the one that started it, and run after the processes that answer requests. `server`: COMPATIBILITY of the program
 * that started it. If it differs, this process ends.
 */
export function runBelow(server: string | undefined): void {
  try {
    refuseIncompatible(server);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
  lowerPriority();
  process.once('disconnect', () => process.exit(1));
  if (!process.connected) process.exit(1);
}

/** Lowers the priority of every thread, including garbage collection: on Linux each thread has its own priority. */
export function lowerPriority(): void {
  lowerPriorityOf(process.pid);
  const threads = '/proc/self/task';
  if (existsSync(threads)) for (const id of readdirSync(threads)) lowerPriorityOf(Number(id));
}

/** Only a privileged user may raise a priority. */
function lowerPriorityOf(id: number): void {
  try {
    if (getPriority(id) < LOW_PRIORITY) setPriority(id, LOW_PRIORITY);
  } catch (error) {
    // The thread has ended.
    if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error;
  }
}
