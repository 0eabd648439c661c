import { existsSync } from 'node:fs';
import { pino } from 'pino';
import { openReadSnapshot } from '../../../shared/sqlite/read-snapshot.ts';
import { diffTypes, type TypesDiff } from '../../content-types/types-diff.ts';
import { textTable } from '../output/text-table.ts';
import { isFound, noDataDirectory } from '../settings/access-log.ts';
import type { JsonOption } from '../settings/command.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import type { TypesSettings } from '../settings/types-settings.ts';
import { liveGraphFile } from './live-graph-file.ts';

/**
 * `varve types diff`: shows the effect that a start with these content types would have on stored values. Reads the graph of the data
 * directory, also next to its server, and writes nothing. Throws at the end if the start would be refused.
 */
export async function showTypesDiff(settings: TypesSettings, { json }: JsonOption): Promise<void> {
  const { data } = settings;
  if (!isFound(data)) throw noDataDirectory(data);
  const file = liveGraphFile(data);
  if (!existsSync(file)) throw new Error(`${file} does not exist: start a server on ${data} first`);
  const contentTypes = await readContentTypes(settings, pino({ level: 'warn' }, pino.destination(2)));
  const diff = readDiff(file, contentTypes.definitions);
  console.log(json === true ? JSON.stringify(diff, null, 2) : presentDiff(diff));
  contentTypes.refuseLosses(diff.effects);
}

function readDiff(file: string, definitions: Parameters<typeof diffTypes>[1]): TypesDiff {
  const { connection, close } = openReadSnapshot(file);
  try {
    return diffTypes(function* (sql, ...values) {
      const statement = connection.prepare(sql);
      statement.setReturnArrays(true);
      for (const row of statement.iterate(...values)) yield row as unknown as readonly unknown[];
    }, definitions);
  } finally {
    close();
  }
}

const OUTCOMES = {
  lost: 'lost',
  converted: 'converted',
  renamed: 'kept under the new name',
  restored: 'come back',
} as const;

function presentDiff({ added, unserved, changes, effects }: TypesDiff): string {
  const sections = [
    section('Definitions', [...added.map((uid) => `${uid}: the type was added`), ...changes]),
    section('Types without a file, whose entries are not served until the file is back', [
      ...unserved.map(({ type, entries }) => `${type}: ${entries === 1 ? '1 entry' : `${entries} entries`}`),
    ]),
    effects.length === 0
      ? []
      : [
          textTable([
            ['VALUES OF', 'ENTRIES', 'EFFECT'],
            ...effects.map(({ name, entries, outcome }) => [name, String(entries), OUTCOMES[outcome]]),
          ]),
        ],
  ].flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')]));
  return sections.length === 0 ? 'A start changes nothing.' : sections.join('\n\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}
