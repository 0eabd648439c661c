import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { flush, removeDatabase } from '../../shared/sqlite/copy-database.ts';

/**
 * Notes that a file is being made: until it is finished a power loss may damage it. Removes one that was being made before the
 * machine's last start.
 */
export function beginFile(file: string, start = machineStart()): void {
  const mark = markOf(file);
  if (existsSync(mark) && readFileSync(mark, 'utf8') !== start) removeDatabase(file);
  if (!existsSync(file)) writeFileSync(mark, start, { mode: 0o600 });
}

/** Brings a file that nobody has open to the disk. */
export function finishFile(file: string): void {
  flush(file);
  rmSync(markOf(file), { force: true });
}

function markOf(file: string): string {
  return `${file}-building`;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Names the machine's last start. */
function machineStart(): string {
  if (existsSync(BOOT_ID)) return readFileSync(BOOT_ID, 'utf8');
  return String(Math.round((Date.now() / 1_000 - uptime()) / 60));
}
