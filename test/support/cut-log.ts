import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Copies what a server needs from a data directory whose server has stopped, with the events up to a position only. */
export function cutLog(data: string, position: bigint | number, folder: string): void {
  for (const name of ['access.key', 'assets', 'log.json', 'events.db'])
    cpSync(join(data, name), join(folder, name), { recursive: true, force: true });
  const log = new DatabaseSync(join(folder, 'events.db'));
  log.prepare('DELETE FROM event WHERE position > ?').run(position);
  log.close();
}
