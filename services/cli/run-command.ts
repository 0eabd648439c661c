import { Command } from 'commander';
import { packageVersion } from '../../shared/package-version.ts';
import { canRecover } from '../../shared/sqlite/failures.ts';
import { isWorker } from '../supervisor/connect-supervisor.ts';
import { FINAL_EXIT } from '../supervisor/protocol.ts';
import { COMMANDS } from './commands.ts';
import { COMMAND_GROUPS } from './grouped-commands.ts';
import { failureText } from './output/failure-text.ts';
import { addCommands } from './settings/command.ts';
import { ROLE_SETTINGS } from './settings/roles.ts';
import { readSecretFiles } from './settings/secret-files.ts';
import { variableOf } from './settings/setting.ts';
import { InvalidSettings } from './settings/settings.ts';
import { CONFIG } from './settings/settings-file.ts';

const program = new Command('varve')
  .description("Serves Strapi 5's REST Content API from an event log.")
  .version(packageVersion());

addCommands(program, COMMAND_GROUPS, COMMANDS, run);

await run(process.argv[2] ?? 'varve', async () => {
  const settings = COMMANDS.flatMap(({ settings: table }) => Object.values(table));
  const variables = new Set<string>([CONFIG, ...settings].map(variableOf));
  Object.assign(process.env, readSecretFiles(process.env, variables));
  await program.parseAsync();
});

/** Runs a command. A failure is a message on stderr and exit code 1, with a stack only at log level debug. */
async function run(command: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof InvalidSettings)
      console.error(`varve ${command}: invalid settings\n${error.message}`);
    else console.error(`varve ${command}: ${failureText(error as Error)}`);
    if (process.env['VARVE_LOG_LEVEL'] === 'debug') console.error(error);
    // A server that has served starts another worker if the failure may pass.
    process.exitCode = isWorker() && !canRecover(error) ? FINAL_EXIT : 1;
    // After a failed start, open resources would keep the process alive.
    if (Object.hasOwn(ROLE_SETTINGS, command)) process.exit();
  }
}
