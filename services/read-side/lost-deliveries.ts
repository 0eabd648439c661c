import { existsSync } from 'node:fs';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';

/** Deliveries that a message names. */
const NAMED = 20;

/**
 * Returns a sentence that names the deliveries in a file `webhooks.db` which were made from events after a position; undefined if there are
 * none, or the file cannot be read.
 */
export function nameDeliveriesAfter(file: string, position: bigint): string | undefined {
  const found = readDeliveriesAfter(file, position);
  if (found.length === 0) return undefined;
  const sent = found.filter(({ state }) => state === 'delivered').length;
  const names = found
    .slice(0, NAMED)
    .map(({ event, type, id, hook, state }) => `${event} of ${type} ${id} to ${hook} (${state})`);
  const more = found.length > NAMED ? `, and ${found.length - NAMED} more` : '';
  return `an older copy of the event log was restored, and ${found.length} deliveries of webhooks were made from events after position ${position}, which may be lost: ${sent} were sent, and the others are dropped: ${names.join(', ')}${more}`;
}

type Lost = { readonly [name in 'event' | 'type' | 'id' | 'hook' | 'state']: string };

function readDeliveriesAfter(file: string, position: bigint): readonly Lost[] {
  if (!existsSync(file)) return [];
  try {
    const { connection, close } = openReadSnapshot(file);
    try {
      return connection
        .prepare(
          'SELECT event, type, document_id AS id, hook, state FROM deliveries WHERE CAST(position AS INTEGER) > ? ORDER BY seq',
        )
        .all(position) as unknown as readonly Lost[];
    } finally {
      close();
    }
  } catch {
    return [];
  }
}
