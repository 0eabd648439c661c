import type { DescribedSetting, SettingsInForce } from '../../state/settings-in-force.ts';
import { textTable } from '../output/text-table.ts';
import type { JsonOption } from '../settings/command.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import { withOperations } from './operate.ts';

/** `varve settings`: prints the settings of the server of the data directory, and what of its project it does not serve. */
export async function showSettings(
  settings: OperatorSettings,
  { json, all }: JsonOption & { readonly all?: true },
): Promise<void> {
  const found = await withOperations(settings, async (operations) => {
    let last: SettingsInForce | undefined;
    for await (const line of operations.run('settings', {})) last = line;
    return last;
  });
  if (found === undefined) throw new Error('the server sent no answer');
  if (json === true) return console.log(JSON.stringify(found, null, 2));
  const shown = found.settings.filter(({ source }) => all === true || source !== 'default');
  if (shown.length === 0) console.log('All settings have their defaults; --all prints them.');
  else console.log(textTable([['OPTION', 'VALUE', 'SOURCE'], ...shown.map(columnsOf)]));
  const left = found.schemas.map(
    ({ file, path, message, action }) => `${file} ${path}: ${message} (${action})`,
  );
  const failure = found.project?.failure ?? null;
  if (failure !== null) console.log(`\nNot read of the project: ${failure}`);
  if (left.length > 0) console.log(`\nNot served as the schemas say:\n  ${left.join('\n  ')}`);
  if (found.code.length > 0)
    console.log(`\nCode of the project that does not run:\n  ${found.code.join('\n  ')}`);
}

function columnsOf({ option, value, source, isSecret }: DescribedSetting): readonly string[] {
  return [option, isSecret && source !== 'default' ? '(secret)' : (value ?? '-'), source];
}
