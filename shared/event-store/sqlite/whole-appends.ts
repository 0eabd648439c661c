import { valueOfJson } from '../../json.ts';
import { isRecord } from '../../json-record.ts';
import type { EventRow } from '../event-codec.ts';
import type { SpacePage } from './sqlite-log.ts';

/** Returns up to `limit` of the events after a position, and the position up to which the log was searched. */
type ReadPage = (after: bigint, limit: number) => SpacePage;

/** Events that are read at a time beyond a page. Few appends have more. */
const MORE = 64;

/**
 * Reads a page, and beyond its limit the rest of the last append. So a subscriber gets the events of one command together, and its readers
 * see all of them or none.
 */
export function readWholeAppends(read: ReadPage, after: bigint, limit: number): SpacePage {
  const page = read(after, limit);
  const end = page.rows.at(-1);
  // If the search went beyond the last event, the next one belongs to another append.
  if (end === undefined || page.upTo !== end[0]) return page;
  const rows = [...page.rows];
  let last: EventRow = end;
  for (;;) {
    const more: readonly EventRow[] = read(last[0], MORE).rows;
    for (const row of more) {
      if (!isOneCommand(last, row)) return { rows, upTo: last[0] };
      rows.push(row);
      last = row;
    }
    if (more.length === 0) return { rows, upTo: last[0] };
  }
}

/**
 * Returns whether two rows are successive events of one command, of one stream or of several ones (`appendTogether`). The log does not
 * record where an append ends.
 */
function isOneCommand(one: EventRow, next: EventRow): boolean {
  const [position, stream, revision] = one;
  if (next[0] !== position + 1n) return false;
  if (next[1] !== stream) return isNamedAlike(one, next);
  return next[2] === revision + 1n && commandOf(one) === commandOf(next);
}

/** Returns whether the metadata of two events of different streams names one command. */
function isNamedAlike([, , , , , , one]: EventRow, [, , , , , , next]: EventRow): boolean {
  // Most events name no command, and then nothing needs to be parsed.
  if (!(one.includes('"command"') && next.includes('"command"'))) return false;
  const name = identityOf(one);
  return name !== undefined && name === identityOf(next);
}

function identityOf(metadata: string): unknown {
  const value = valueOfJson(metadata);
  return isRecord(value) && isRecord(value['command']) ? value['command']['id'] : undefined;
}

/** Metadata that all events of a command share. */
const COMMON = ['at', 'epoch', 'via', 'correlationId', 'actor'] as const;

/** Returns a text that is equal for the events of one command. */
function commandOf([, , , , , , metadata]: EventRow): string {
  const value = valueOfJson(metadata);
  return JSON.stringify(isRecord(value) ? COMMON.map((name) => value[name]) : metadata);
}
