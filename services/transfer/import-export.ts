import { createHash, randomUUID } from 'node:crypto';
import { matchesDigest, OTHER_CONTENT } from '../../shared/event-store/event-digest.ts';
import { AppendTooLarge, type EventStore, type NewEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { isForeign } from '../../shared/event-store/unreadable.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { validateEvent } from '../../shared/events/validate-event.ts';
import { isIdentityEvent } from '../../shared/fleet/identity-events.ts';
import { type Lead, leadOf } from '../../shared/fleet/lease.ts';
import { isLeaseEvent } from '../../shared/fleet/lease-events.ts';
import { type Claimant, claimLease } from '../fleet/claim-lease.ts';
import { readLease } from '../fleet/lease-view.ts';
import { beginLog, nameHistory } from '../fleet/log-identity.ts';
import { type ExportEnding, type ExportedEvent, parseExportLine } from './export-format.ts';
import { createHistory } from './history.ts';
import { inBatches } from './import-lines.ts';

export type ExportImport = {
  readonly log: EventStore;
  readonly space: string;
  /** Returns the lines of the file without line ends. Each call begins at the start of the file. */
  readonly lines: () => AsyncIterable<string>;
  readonly onEvents: (count: number) => void;
};

/** Appends that share commits or calls. */
const BATCH = 512;

const OTHER_EVENTS = 'the log has other events already: import into a new data directory';
const OTHER_ORDER =
  'the import is wrong: the log has the events in another order than the file, or others between them; import into a new `--space`';

/** Returns whether a file begins like an export. */
export function isExport(firstLine: string): boolean {
  return parseExportLine(firstLine)?.kind === 'header';
}

/**
 * Appends the events of an export to a log, with their ids, times and order. The log is empty or already has the first of the events, as
 * after an interrupted import. Checks the whole file first, and at the end that the log has its events in its order: numeric ids follow that
 * order. Returns the number of events in the log after the import. Rejects with a message.
 */
export async function importExport(options: ExportImport): Promise<number> {
  const { head, ...epochs } = await checkFile(options.lines());
  const present = await countPresent(options, OTHER_EVENTS);
  if (head !== undefined && present === 0) await nameHistory(options.log, options.space, head);
  const { leader } = await readLease(options.log, options.space);
  // An earlier import that was interrupted after its last event still holds the lease: this one returns it.
  let lead = leader?.address === NOWHERE ? await claimSpace(options, epochs.lowest) : undefined;
  let events = present;
  for await (const batch of inBatches(eventsOf(options.lines(), present), BATCH)) {
    lead ??= await claimSpace(options, epochs.lowest);
    await appendAll(options, batch, lead).catch((error) => refused(options, batch, events, error));
    events += batch.length;
  }
  if (events > present && (await countPresent(options, OTHER_ORDER)) !== events) throw new Error(OTHER_ORDER);
  if (lead !== undefined) await returnSpace(options, lead, epochs.highest);
  return events;
}

/** Throws unless the file is complete and every event matches its digest. Returns the head, and the epochs of the events that count. */
async function checkFile(lines: AsyncIterable<string>) {
  const sum = createHash('sha256');
  let events = 0;
  let number = 0;
  let isEnded = false;
  let head: ExportEnding['head'];
  let epochs: number[] = [];
  const revisionOf = createHistory();
  for await (const text of lines) {
    number++;
    const line = parseExportLine(text);
    if (isEnded || line === undefined || (line.kind === 'header') !== (number === 1))
      throw new Error(`line ${number} is not a line of an export`);
    if (line.kind === 'event') {
      refuseUnknown(line.event, number);
      events++;
      if (revisionOf(line.event) !== undefined) epochs.push(line.event.metadata.epoch);
      if (epochs.length > BATCH) epochs = [Math.min(...epochs), Math.max(...epochs)];
    }
    if (line.kind === 'ending') {
      isEnded = true;
      head = line.ending.head;
      if (line.ending.events !== events || line.ending.sha256 !== sum.copy().digest('hex'))
        throw new Error('the export was changed: its SHA-256 differs');
    }
    sum.update(`${text}\n`);
  }
  if (!isEnded) throw new Error('the export is incomplete: its last line is missing');
  return { lowest: epochs.length === 0 ? 0 : Math.min(...epochs), highest: Math.max(0, ...epochs), head };
}

/** Throws if the event was changed, or if this program cannot read it: then nothing of the file is imported. */
function refuseUnknown({ id, type, data, metadata }: ExportedEvent, number: number): void {
  if (!matchesDigest({ id, type, data, metadata }))
    throw new Error(`line ${number} has an event that was changed: ${OTHER_CONTENT}`);
  const read = upcast({ type, data, metadata });
  const problem = read.unreadable?.reason ?? validateEvent(read);
  if (problem !== undefined)
    throw new Error(`line ${number} has an event that cannot be imported: ${problem}`);
}

/** Exports of earlier releases have all events of their log: lease events, and events that these fence off, are omitted here. */
async function* eventsOf(lines: AsyncIterable<string>, skipped = 0): AsyncGenerator<ExportedEvent> {
  const revisionOf = createHistory();
  let at = 0;
  for await (const text of lines) {
    const line = parseExportLine(text);
    if (line?.kind !== 'event') continue;
    const revision = revisionOf(line.event);
    if (revision !== undefined && at++ >= skipped) yield { ...line.event, revision };
  }
}

/** Returns how many events the log has. Throws unless they are the first events of the export. */
async function countPresent({ log, space, lines }: ExportImport, otherwise: string): Promise<number> {
  const exported = eventsOf(lines());
  let present = 0;
  for await (const event of rawEvents(log, 0n)) {
    if (isForeign(event) || isLeaseEvent(event) || isIdentityEvent(event)) continue;
    const { id, stream } = event;
    const next = await exported.next();
    if (next.done === true || next.value.id !== id || `${space}.${next.value.stream}` !== stream)
      throw new Error(otherwise);
    present++;
  }
  await exported.return(undefined);
  return present;
}

const LEAD_LOST =
  'another process became the leader of this log: stop it, and import into a new data directory';

/**
 * Makes this process the leader, so that a process that starts in the meantime ends the import. `epoch`: no event has an earlier one.
 * Events of epoch 0 are older than leases: a claim would fence them off.
 */
async function claimSpace({ log, space }: ExportImport, epoch: number): Promise<Lead> {
  if (epoch === 0) return { epoch };
  const claimant = importer({ log, space });
  const lease = await readLease(log, space);
  // A claim fences off events of an earlier epoch: this one precedes them all.
  const isLate = lease.epoch > epoch;
  if (isLate || (await claimLease(claimant, { ...lease, epoch: epoch - 1 })) === undefined)
    throw new Error(LEAD_LOST);
  return leadOf(space, await readLease(log, space));
}

/**
 * Makes a separate log of the imported events, without a leader. The next leader's epoch is later than those of the events, whose ids
 * include the epoch if a client may repeat a command.
 */
async function returnSpace({ log, space }: ExportImport, { fence }: Lead, highest: number): Promise<void> {
  const lease = await readLease(log, space);
  if (lease.revision !== fence?.revision) throw new Error(LEAD_LOST);
  await claimLease(importer({ log, space }), { ...lease, epoch: highest });
  await beginLog(log, space);
}

/** Address at which no process listens, so that any process may claim the lease. */
const NOWHERE = 'http://127.0.0.1:9';

function importer({ log, space }: Pick<ExportImport, 'log' | 'space'>): Claimant {
  const now = () => new Date().toISOString();
  return { log, space, owner: randomUUID(), address: NOWHERE, now };
}

/** Appends events in order: each append waits for those before it in the log, and they share a commit. */
async function appendAll(
  { log, space, onEvents }: ExportImport,
  events: readonly ExportedEvent[],
  { fence }: Lead,
): Promise<void> {
  const appends = events.map(({ stream, revision, ...event }) => ({
    stream: `${space}.${stream}`,
    expected: revision === 0 ? ('none' as const) : BigInt(revision - 1),
    events: [event as NewEvent],
  }));
  const results = await log.appendInOrder(appends, fence);
  if (results.some(({ kind }) => kind === 'fenced')) throw new Error(LEAD_LOST);
  const conflict = results.findIndex(({ kind }) => kind === 'conflict');
  if (conflict >= 0)
    throw new Error(`another process writes to the log: ${events[conflict]?.stream} has changed`);
  onEvents(events.length);
}

/** Rejects with the failure of a batch. `before`: number of events before the batch. The log has those before the one that it refused. */
async function refused(
  options: ExportImport,
  batch: readonly ExportedEvent[],
  before: number,
  error: unknown,
): Promise<never> {
  if (!(error instanceof AppendTooLarge)) throw error;
  const event = batch[(await countPresent(options, OTHER_ORDER)) - before];
  const eventName = `revision ${event?.revision} of ${event?.stream}`;
  throw new Error(`${eventName} cannot be imported: ${error.message}, and import again`, { cause: error });
}
