import type { ParkedItem, ParkedLine, RetryOutcome } from '../../operator/parked.ts';
import { textTable } from '../output/text-table.ts';
import type { JsonOption } from '../settings/command.ts';
import { InvalidSettings, type OperatorSettings } from '../settings/settings.ts';
import { lookAt, withOperations } from './operate.ts';

/**
 * `varve parked list`: documents that the read index refused, and events of other programs that are skipped, each with the
 * reason.
 */
export async function listParked(settings: OperatorSettings, { json }: JsonOption): Promise<void> {
  const lines = await list(settings, {});
  const items = lines.flatMap((line) => (line.kind === 'item' ? [line.item] : []));
  const events = lines.flatMap((line) => (line.kind === 'event' ? [line.event] : []));
  if (json === true) return console.log(JSON.stringify([...items, ...events], null, 2));
  if (lines.length === 0) return console.error('There are no parked documents and no skipped events.');
  const documents = [['ITEM', 'TYPE', 'DOCUMENT', 'LOCALE', 'POSITION', 'REASON'], ...items.map(columnsOf)];
  const foreign = [
    ['POSITION', 'STREAM', 'REVISION', 'TYPE', 'REASON'],
    ...events.map((event) => [event.position, event.stream, event.revision, event.type, event.reason]),
  ];
  const tables = [documents, foreign].filter((table) => table.length > 1);
  console.log(tables.map((rows) => textTable(rows)).join('\n\n'));
}

/** `varve parked show`: everything known about one document, as JSON. */
export async function showParked(settings: OperatorSettings, _options: object, name: string): Promise<void> {
  for (const line of await list(settings, { items: [name] }))
    if (line.kind === 'item') console.log(JSON.stringify(line.item, null, 2));
}

/** Returns the code of `varve parked retry` or `varve parked drop`. */
export function decideParked(action: 'retry' | 'drop') {
  return async (
    settings: OperatorSettings,
    { all = false }: { readonly all?: boolean },
    items: readonly string[],
  ): Promise<void> => {
    if (all === items.length > 0) throw new InvalidSettings('pass items of varve parked list, or pass --all');
    const request = { action, ...(all ? {} : { items: [...items] }) };
    const lines = await withOperations(settings, (operations) =>
      Array.fromAsync(operations.run('parked', request)),
    );
    const count = lines.reduce((sum, line) => sum + (line.kind === 'count' ? line.count : 0), 0);
    const documents = count === 1 ? '1 document is' : `${count} documents are`;
    console.log(action === 'retry' ? `${documents} written again` : `${documents} dropped`);
    for (const line of lines) if (line.kind === 'outcome') console.log(presentOutcome(line.outcome));
    if (lines.some((line) => line.kind === 'outcome' && line.outcome.state === 'refused'))
      process.exitCode = 1;
  };
}

function list(settings: OperatorSettings, request: { items?: string[] }): Promise<readonly ParkedLine[]> {
  return lookAt(settings, (looks) => Array.fromAsync(looks.run('list-parked', request)));
}

function presentOutcome({ item, type, documentId, state, reason }: RetryOutcome): string {
  const what = {
    written: 'written',
    refused: `refused again: ${reason}`,
    waiting: 'not decided yet: varve parked list shows it if it is refused again',
  }[state];
  return `${item} (${type} ${documentId}): ${what}`;
}

function columnsOf({ item, type, documentId, locale, position, reason }: ParkedItem): readonly string[] {
  return [item, type, documentId, locale ?? '', position, reason];
}
