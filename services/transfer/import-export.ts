import { createHash } from 'node:crypto';
import { upcast } from '../../shared/document/upcasters.ts';
import type { EventStore, NewEvent } from '../../shared/event-store/event-store.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { validateEvent } from '../../shared/events/validate-event.ts';
import { type ExportedEvent, parseExportLine } from './export-format.ts';

export type ExportImport = {
  readonly log: EventStore;
  readonly space: string;
  /** The file from its beginning, at each call; without line ends. */
  readonly lines: () => AsyncIterable<string>;
  readonly onEvents: (count: number) => void;
};

/** Appends under way at once: they share commits. */
const BATCH = 512;

/** Whether a file begins as an export does. */
export function isExport(firstLine: string): boolean {
  return parseExportLine(firstLine)?.kind === 'header';
}

/**
 * Appends the events of an export, with their ids, times and order, to a log that is empty or has the first of them already, as
 * after an import that was cut short. The whole file is checked first. Answers how many events are in the log then. Throws a
 * sentence.
 */
export async function importExport(options: ExportImport): Promise<number> {
  await checkFile(options.lines());
  const present = await countPresent(options);
  let at = 0;
  let batch: ExportedEvent[] = [];
  for await (const event of eventsOf(options.lines())) {
    if (at++ < present) continue;
    batch.push(event);
    if (batch.length === BATCH) batch = await appendAll(options, batch);
  }
  await appendAll(options, batch);
  return at;
}

/** Throws unless the file is whole. */
async function checkFile(lines: AsyncIterable<string>): Promise<void> {
  const sum = createHash('sha256');
  let events = 0;
  let number = 0;
  let isEnded = false;
  for await (const text of lines) {
    number++;
    const line = parseExportLine(text);
    if (isEnded || line === undefined || (line.kind === 'header') !== (number === 1))
      throw new Error(`line ${number} is no line of an export`);
    if (line.kind === 'event') {
      refuseUnknown(line.event, number);
      events++;
    }
    if (line.kind === 'ending') {
      isEnded = true;
      if (line.ending.events !== events || line.ending.sha256 !== sum.copy().digest('hex'))
        throw new Error('the export is not as it was written: its SHA-256 is another');
    }
    sum.update(`${text}\n`);
  }
  if (!isEnded) throw new Error('the export breaks off: its last line says how it ends');
}

/** Throws when this program cannot vouch for the event: nothing of the file is imported then. */
function refuseUnknown({ type, data, metadata }: ExportedEvent, number: number): void {
  const read = upcast({ type, data, metadata });
  const problem = read.unreadable?.reason ?? validateEvent(read);
  if (problem !== undefined)
    throw new Error(`line ${number} has an event that cannot be imported: ${problem}`);
}

async function* eventsOf(lines: AsyncIterable<string>): AsyncGenerator<ExportedEvent> {
  for await (const text of lines) {
    const line = parseExportLine(text);
    if (line?.kind === 'event') yield line.event;
  }
}

/** Events of the log, which must be the first of the export. */
async function countPresent({ log, space, lines }: ExportImport): Promise<number> {
  const exported = eventsOf(lines());
  let present = 0;
  for await (const events of log.readAll(0n)) {
    for (const event of events) {
      if (isForeign(event)) continue;
      const { id, stream } = event;
      const next = await exported.next();
      if (next.done === true || next.value.id !== id || `${space}.${next.value.stream}` !== stream)
        throw new Error('the log has other events already: an export goes into a new data directory');
      present++;
    }
  }
  await exported.return(undefined);
  return present;
}

/** In order: each append waits for those before it in the log, and they share a commit. */
async function appendAll(
  { log, space, onEvents }: ExportImport,
  events: readonly ExportedEvent[],
): Promise<ExportedEvent[]> {
  const results = await Promise.all(
    events.map(({ stream, revision, ...event }) =>
      log.append(`${space}.${stream}`, revision === 0 ? 'none' : BigInt(revision - 1), [event as NewEvent]),
    ),
  );
  const conflict = results.findIndex(({ kind }) => kind === 'conflict');
  if (conflict >= 0)
    throw new Error(`another process writes to the log: ${events[conflict]?.stream} has changed`);
  onEvents(events.length);
  return [];
}
