import * as z from 'zod';
import { matchesDigest } from '../../shared/event-store/event-digest.ts';
import type { NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';
import { valueOfJson } from '../../shared/json.ts';

/**
 * An export: lines of JSON, first the header, then the events in order of the log, last the ending. The name of an event's stream omits the
 * namespace, and its revision is its index in the stream.
 */
export type ExportHeader = { readonly varve: 'export'; readonly format: 1; readonly space: string };
export type ExportEnding = {
  readonly end: true;
  readonly events: number;
  /** SHA-256 of all earlier lines, each with its line end. */
  readonly sha256: string;
  /** The head of the log's hash chain at the last of the events, where the log has a chain. */
  readonly head?: ExportedHead | undefined;
};
export type ExportedHead = { readonly position: string; readonly chain: string };
export type ExportedEvent = NewEvent & { readonly stream: string; readonly revision: number };

const metadata = z.looseObject({ schemaVersion: z.int(), at: z.string(), epoch: z.int() });
const header = z.strictObject({ varve: z.literal('export'), format: z.literal(1), space: z.string() });
const head = z.strictObject({ position: z.string(), chain: z.string() });
const ending = z.strictObject({
  end: z.literal(true),
  events: z.int(),
  sha256: z.string(),
  head: head.optional(),
});
const event = z.strictObject({
  stream: z.string(),
  revision: z.int(),
  id: z.string(),
  type: z.string(),
  data: z.unknown(),
  metadata,
});

/** Line of an export. */
export type ExportLine =
  | { readonly kind: 'header'; readonly header: ExportHeader }
  | { readonly kind: 'event'; readonly event: ExportedEvent }
  | { readonly kind: 'ending'; readonly ending: ExportEnding };

/** Returns undefined for a line that has none of the three forms. */
export function parseExportLine(text: string): ExportLine | undefined {
  const json = valueOfJson(text);
  const asEvent = event.safeParse(json);
  if (asEvent.success) return { kind: 'event', event: asEvent.data as ExportedEvent };
  const asHeader = header.safeParse(json);
  if (asHeader.success) return { kind: 'header', header: asHeader.data };
  const asEnding = ending.safeParse(json);
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
