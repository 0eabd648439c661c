import { createHash } from 'node:crypto';
import { isAccessEvent } from '../../shared/access/access-events.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { isForeign, refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { isWebhookEvent } from '../../shared/webhooks/webhook-events.ts';
import { type ExportEnding, type ExportHeader, presentExported } from './export-format.ts';
import { createHistory } from './history.ts';

/**
 * Lines of an export of the log, up to its end when the first line is read. Access events are omitted: they belong to the installation and
 * not to the content. Lease events, the events that they fence off, and events of other programs are omitted too. Throws UnreadableEvent at
 * an event that this program cannot read, because it cannot know what the event means for the export.
 */
export async function* exportLog(log: EventStore, space: string): AsyncGenerator<string> {
  const sum = createHash('sha256');
  const line = (json: object): string => {
    const text = JSON.stringify(json);
    sum.update(`${text}\n`);
    return text;
  };
  const end = await log.lastPosition();
  yield line({ varve: 'export', format: 1, space } satisfies ExportHeader);
  const revisionOf = createHistory();
  let events = 0;
  let head: ExportEnding['head'];
  for await (const event of rawEvents(log, 0n, { until: end })) {
    refuseUnreadable(event);
    if (isAccessEvent(event) || isWebhookEvent(event) || isForeign(event)) continue;
    const revision = revisionOf(event);
    if (revision === undefined) continue;
    events++;
    head = event.chain === undefined ? undefined : { position: String(event.position), chain: event.chain };
    yield line({ ...presentExported(space, event), revision });
  }
  yield JSON.stringify({ end: true, events, sha256: sum.digest('hex'), head } satisfies ExportEnding);
}
