import {
  isSameLog,
  type LogOfDirectory,
  presentLogOfDirectory,
  readLogOfDirectory,
} from '../../stores/log-of-directory.ts';
import type { SettingsTable } from './setting.ts';
import { InvalidSettings } from './settings.ts';

type Given = Readonly<Record<string, unknown>>;

/**
 * Adds the log of the data directory, which its server has recorded, to the options of a command. Throws InvalidSettings if the command
 * uses the directory, and the options name another log.
 */
export function withLogOfDirectory(table: SettingsTable, given: Given): Given {
  if (table['data'] === undefined || table['eventStore'] === undefined) return given;
  const data = typeof given['data'] === 'string' ? given['data'] : '.varve';
  const known = readLogOfDirectory(data);
  if (known === undefined) return given;
  const named: LogOfDirectory = {
    space: textOr(given['space'], known.space),
    eventStore: given['eventStore'] === undefined ? known.eventStore : String(given['eventStore']),
  };
  if (isSameLog(data, known, named)) return { ...given, ...withoutUndefined(named) };
  if (!usesDirectory(table)) return given;
  throw new InvalidSettings(
    `--data "${data}" belongs to the log ${presentLogOfDirectory(data, known)}, and the options name the log ${presentLogOfDirectory(data, named)}: pass --data of a server of that log, or omit --event-store and --space`,
  );
}

/** Commands that read only the log may read any log. */
function usesDirectory(table: SettingsTable): boolean {
  return table['readIndex'] !== undefined || table['assets'] !== undefined;
}

function withoutUndefined({ space, eventStore }: LogOfDirectory): Given {
  return eventStore === undefined ? { space } : { space, eventStore };
}

function textOr(value: unknown, otherwise: string): string {
  return value === undefined ? otherwise : String(value);
}
