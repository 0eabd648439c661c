import * as z from 'zod';
import { matchesDigest } from '../../shared/event-store/event-digest.ts';
import type { NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';
import { valueOfJson } from '../../shared/json.ts';

/**
 * An export: lines of JSON, first the header, then the events in order of the log, last the ending. The name of an event's stream omits the
 * namespace, and its revision is its index in the stream.
 */
export type ExportLine =
  | { readonly kind: 'header' }
  | { readonly kind: 'event'; readonly event: ExportedEvent }
  | { readonly kind: 'ending'; readonly ending: ExportEnding };

const HEADER = z.strictObject({ varve: z.literal('export'), format: z.literal(1), space: z.string() });
export type ExportHeader = z.output<typeof HEADER>;

const EVENT = z.strictObject({
  stream: z.string(),
  revision: z.int(),
  id: z.string(),
  type: z.string(),
  data: z.unknown(),
  metadata: z.looseObject({ schemaVersion: z.int(), at: z.string(), epoch: z.int() }),
});
export type ExportedEvent = NewEvent & { readonly stream: string; readonly revision: number };

/**
 * `sha256` is that of all earlier lines, each with its line end. `head` is the head of the log's hash chain at the last event, if the log
 * has a chain.
 */
const ENDING = z.strictObject({
  end: z.literal(true),
  events: z.int(),
  sha256: z.string(),
  head: z.strictObject({ position: z.string(), chain: z.string() }).optional(),
});
export type ExportEnding = z.output<typeof ENDING>;

/** Returns undefined for a line that has none of the three forms. */
export function parseExportLine(text: string): ExportLine | undefined {
  const json = valueOfJson(text);
  const asEvent = EVENT.safeParse(json);
  if (asEvent.success) return { kind: 'event', event: asEvent.data as ExportedEvent };
  if (HEADER.safeParse(json).success) return { kind: 'header' };
  const asEnding = ENDING.safeParse(json);
  return asEnding.success ? { kind: 'ending', ending: asEnding.data } : undefined;
}

/** Returns an event without its namespace, so that another one can import it. */
export function presentExported(space: string, stored: StoredEvent): ExportedEvent {
  const { stream, revision, id, type, data } = stored;
  // An upcast event does not match its stored digest.
  const { digest: _, ...others } = stored.metadata;
  const facts = matchesDigest(stored) ? stored.metadata : others;
  const name = stream.startsWith(`${space}.`) ? stream.slice(space.length + 1) : stream;
  return { stream: name, revision: Number(revision), id, type, data, metadata: facts };
}
