import { type Setting, variableOf } from '../../services/cli/settings/setting.ts';
import { SETTING_GROUPS } from '../../services/cli/settings/settings.ts';

/** Returns docs/settings.md, generated from the table of settings. */
export function settingsPage(): string {
  return [
    '# Settings',
    '',
    'For operators. This page has every setting of `varve serve`, `varve project` and `varve api`. The other commands have some of them.',
    '',
    'A setting is an option, an environment variable, or a member of a file in JSON. An option wins over its variable, and a variable over the',
    'file. `varve serve --help` lists the options in the same groups, and `varve serve --help network` shows one group. A variable with `_FILE`',
    'at the end of its name, such as `VARVE_ACCESS_KEY_FILE`, names a file with the value.',
    '',
    'The file is the one that `--config` or `VARVE_CONFIG` names:',
    '',
    '```json',
    '{',
    '  "$schema": "./docs/varve.schema.json",',
    '  "content": { "contentTypes": "src" },',
    '  "network": { "port": 8080, "cors": "https://example.org,https://www.example.org" },',
    '  "login": { "login": true }',
    '}',
    '```',
    '',
    'Numbers and switches are numbers, `true` or `false`. Everything else is the text of the option; paths are relative to the folder in which',
    'the command runs. All commands accept one file, and use the settings that they have. An unknown name or a wrong value refuses the start,',
    'and the message names the path, what was found and what is accepted. [varve.schema.json](varve.schema.json) is the JSON Schema of the file.',
    '',
    'This page and the schema are made from `services/cli/settings` (`npx vitest run test/docs/settings-page.test.ts -u` writes them).',
    ...Object.entries(SETTING_GROUPS).flatMap(([group, table]) => [
      '',
      `## ${group}`,
      '',
      '| option | variable | in the file | meaning |',
      '|---|---|---|---|',
      ...Object.entries<Setting>(table).map(
        ([name, setting]) =>
          `| \`${setting.flags}\` | \`${variableOf(setting)}\` | \`${name}\` | ${escaped(setting.description)} |`,
      ),
    ]),
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('<', '\\<');
}
