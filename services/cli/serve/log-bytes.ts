import { statSync } from 'node:fs';
import { type LogSettings, logFile } from '../../stores/open-event-store.ts';

/** Returns a function with the size of a log in bytes. A position of KurrentDB is an offset in its files. */
export function sizeOfLog(settings: LogSettings): (end: bigint) => number {
  const file = logFile(settings);
  return (end) => (file === undefined ? Number(end) : statSync(file).size);
}
