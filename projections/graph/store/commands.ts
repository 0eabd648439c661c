import type { AppliedCommand } from '../../../shared/document/entry.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { openCommandClock } from './command-clock.ts';
import type { GraphDatabase } from './graph-database.ts';

/**
 * Applied commands by their id, to recognise repetitions. Only events that take effect are recorded, so a command whose events were fenced
 * off can run again.
 */
export type Commands = ReturnType<typeof openCommands>;

/**
 * Time for which a client may repeat an Idempotency-Key. It is measured by the command clock, which does not change when the machine's
 * clock is set.
 */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Time for a command that only other processes may repeat, while they wait for a new leader. */
const FORWARDED_KEPT_MS = 10 * 60 * 1000;
/** Additional time for both, because small changes of a clock are not noticed (see command-clock.ts). */
const MARGIN_MS = 60 * 60 * 1000;
const FORWARDED_MARGIN_MS = 2 * 60 * 1000;
/** Number of records between two deletions of old ones. */
const SWEEP_EVERY = 1_000;

/**
 * SQL condition for the commands that are still remembered, whenever old rows were last deleted. Their time ends after the newest command,
 * also if no clock was ever set.
 */
export const KEPT_COMMANDS = `kept_until >= (SELECT max(kept_until - iif(request IS NULL, ${FORWARDED_KEPT_MS}, ${KEPT_MS})) FROM commands)`;

const NOTE = `INSERT INTO commands (id, request, document_id, position, kept_until, forgotten_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET position = excluded.position`;
const FIND = 'SELECT request, document_id, position FROM commands WHERE id = ?';

/**
 * Opens the records of commands in the graph's file. Records are kept for a day for an Idempotency-Key, else for ten minutes, plus a margin
 * for clocks that are set.
 */
export function openCommands(db: GraphDatabase) {
  const clock = openCommandClock(db);
  let noted = 0;
  let latest = 0;
  return {
    /** Called with every document event that counts. */
    note({ metadata: { command, at }, position, data }: StoredEvent): void {
      if (command === undefined) return;
      latest = Date.parse(at);
      const { documentId } = data as { readonly documentId: string };
      const isForwarded = command.request === undefined;
      const kept = isForwarded ? FORWARDED_KEPT_MS : KEPT_MS;
      const forgottenAt = clock.at(latest) + kept + (isForwarded ? FORWARDED_MARGIN_MS : MARGIN_MS);
      db.run(NOTE, command.id, command.request ?? null, documentId, position, latest + kept, forgottenAt);
      noted++;
    },
    find(id: string): AppliedCommand | undefined {
      const found = db.get(FIND, id);
      if (found === undefined) return undefined;
      const [request, documentId, position] = found;
      return {
        request: request === null ? undefined : String(request),
        documentId: String(documentId),
        position: BigInt(position as number),
      };
    },
    /** Must run in the transaction of the events. */
    flush(): void {
      clock.flush();
      if (noted < SWEEP_EVERY) return;
      db.run('DELETE FROM commands WHERE kept_until < ? AND forgotten_at < ?', latest, clock.now());
      noted = 0;
    },
  };
}
