import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { commandOf } from '../history/document-actions.ts';

/** Adds the remaining events of the command that the last event belongs to. Throws UnreadableEvent for an event that stops readers. */
export async function completeCommand(
  { after }: Pick<EffectiveEvents, 'after'>,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const whole = [...events];
  const last = whole.at(-1);
  if (last === undefined) return whole;
  for await (const event of after(last.position, { batchSize: 20 })) {
    if (commandOf(event) !== commandOf(last)) break;
    refuseUnreadable(event);
    whole.push(event);
  }
  return whole;
}
