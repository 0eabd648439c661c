import type { ParkedItem, ParkedLine } from '../../operator/parked.ts';
import { textTable } from '../output/text-table.ts';
import type { JsonOption } from '../settings/command.ts';
import { InvalidSettings, type OperatorSettings } from '../settings/settings.ts';
import { withOperations } from './operate.ts';

type AllOption = { readonly all?: true };

/**
 * `varve parked list`: documents that the read index refused, and events of other programs that are skipped, each with the
 * reason.
 */
export async function listParked(settings: OperatorSettings, { json }: JsonOption): Promise<void> {
  const lines = await linesOf(settings, { action: 'list' });
  const items = lines.flatMap((line) => (line.kind === 'item' ? [line.item] : []));
  const events = lines.flatMap((line) => (line.kind === 'event' ? [line.event] : []));
  if (json === true) return console.log(JSON.stringify([...items, ...events], null, 2));
  if (lines.length === 0)
    return console.error('The read index has refused no document, and no event is skipped.');
  const documents = [['ITEM', 'TYPE', 'DOCUMENT', 'LOCALE', 'POSITION', 'REASON'], ...items.map(columnsOf)];
  const foreign = events.map(({ position, stream, revision, type, reason }) => [
    ...[position, stream, revision, type, reason],
  ]);
  const tables = [
    ...(items.length === 0 ? [] : [textTable(documents)]),
    ...(events.length === 0
      ? []
      : [textTable([['POSITION', 'STREAM', 'REVISION', 'TYPE', 'REASON'], ...foreign])]),
  ];
  console.log(tables.join('\n\n'));
}

/** `varve parked show`: everything known about one document, as JSON. */
export async function showParked(settings: OperatorSettings, _options: object, name: string): Promise<void> {
  for (const item of await itemsOf(settings, [name])) console.log(JSON.stringify(item, null, 2));
}

/** `varve parked retry` */
export function retryParked(
  settings: OperatorSettings,
  { all }: AllOption,
  items: readonly string[],
): Promise<void> {
  return decide('retry', items, all === true, settings);
}

/** `varve parked drop` */
export function dropParked(
  settings: OperatorSettings,
  { all }: AllOption,
  items: readonly string[],
): Promise<void> {
  return decide('drop', items, all === true, settings);
}

async function decide(
  action: 'retry' | 'drop',
  items: readonly string[],
  all: boolean,
  settings: OperatorSettings,
): Promise<void> {
  if (all === items.length > 0) throw new InvalidSettings('  name items of varve parked list, or pass --all');
  const lines = await linesOf(settings, { action, ...(all ? {} : { items: [...items] }) });
  const count = lines.reduce((sum, line) => sum + (line.kind === 'count' ? line.count : 0), 0);
  const documents = count === 1 ? '1 document is' : `${count} documents are`;
  console.log(action === 'retry' ? `${documents} written again` : `${documents} dropped`);
}

async function itemsOf(settings: OperatorSettings, items: string[]): Promise<readonly ParkedItem[]> {
  const lines = await linesOf(settings, { action: 'list', items });
  return lines.flatMap((line) => (line.kind === 'item' ? [line.item] : []));
}

async function linesOf(
  settings: OperatorSettings,
  request: { action: 'list' | 'retry' | 'drop'; items?: string[] },
): Promise<readonly ParkedLine[]> {
  return withOperations(settings, async (operations) => {
    const lines: ParkedLine[] = [];
    for await (const line of operations.run('parked', request)) lines.push(line);
    return lines;
  });
}

function columnsOf({ item, type, documentId, locale, position, reason }: ParkedItem): readonly string[] {
  return [item, type, documentId, locale ?? '', position, reason];
}
