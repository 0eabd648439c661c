import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { flush, removeDatabase } from '../../shared/sqlite/copy-database.ts';

/**
 * Records that a file is being made: until it is finished a power loss may damage it. Removes the file if it was being made before the
 * machine's last start.
 */
export function beginFile(file: string, start = machineStart()): void {
  const mark = markOf(file);
  if (existsSync(mark) && readFileSync(mark, 'utf8') !== start) removeDatabase(file);
  if (!existsSync(file)) writeFileSync(mark, start, { mode: 0o600 });
}

/** Writes a file that no process has open to the disk. */
export function finishFile(file: string): void {
  flush(file);
  rmSync(markOf(file), { force: true });
}

/** Returns whether a file was begun and not finished. */
export function isUnfinished(file: string): boolean {
  return existsSync(markOf(file));
}

function markOf(file: string): string {
  return `${file}-building`;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Returns a text that identifies the machine's last start. */
function machineStart(): string {
  if (existsSync(BOOT_ID)) return readFileSync(BOOT_ID, 'utf8');
  return String(Math.round((Date.now() / 1_000 - uptime()) / 60));
}
