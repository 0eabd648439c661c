import type { Command } from 'commander';
import {
  BACKUP_SETTINGS,
  LOG_SETTINGS,
  OPERATOR_SETTINGS,
  parseSettings,
  type SettingsTable,
} from './settings.ts';

/** What a command line is made with; see varve.ts. */
export type CommandLine = {
  readonly program: Command;
  readonly withSettings: (command: Command, table: SettingsTable) => Command;
  readonly run: (command: string, action: () => Promise<void>) => Promise<void>;
};

const JSON_OPTION = ['--json', 'as JSON, for programs'] as const;

/** Commands that work on a data directory whether or not a server holds it. */
export function addOperatorCommands({ program, withSettings, run }: CommandLine): void {
  withSettings(
    program
      .command('status')
      .description('show where the log and everything made from it stand')
      .option(...JSON_OPTION),
    OPERATOR_SETTINGS,
  ).action(({ json, ...given }) =>
    run('status', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { showStatus } = await import('./status.ts');
      await showStatus(json === true, settings);
    }),
  );
  withSettings(
    program
      .command('events')
      .description('show the history, oldest first')
      .option('--document <id>', 'of this document alone')
      .option('--from <position>', 'from this position of the log on')
      .option('--follow', 'go on with what happens from now on')
      .option(...JSON_OPTION),
    LOG_SETTINGS,
  ).action(({ document, from, follow, json, ...given }) =>
    run('events', async () => {
      const settings = parseSettings(LOG_SETTINGS, given);
      const { showEvents } = await import('./events.ts');
      await showEvents({ document, from, follow, json }, settings);
    }),
  );
  withSettings(
    program
      .command('verify')
      .description('compare the read index with the content graph, and the graph with the log')
      .option('--repair', 'make anew what the read index has wrong')
      .option(...JSON_OPTION),
    OPERATOR_SETTINGS,
  ).action(({ repair, json, ...given }) =>
    run('verify', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { verify } = await import('./verify.ts');
      await verify({ repair: repair === true, json: json === true }, settings);
    }),
  );
  withSettings(
    program
      .command('backup')
      .description('copy the log as it is now, and the uploaded files, to a new folder')
      .argument('<dir>', 'the folder')
      .option(...JSON_OPTION),
    BACKUP_SETTINGS,
  ).action((folder: string, { json, ...given }) =>
    run('backup', async () => {
      const settings = parseSettings(BACKUP_SETTINGS, given);
      const { backup } = await import('./backup.ts');
      await backup(folder, json === true, settings);
    }),
  );
  withSettings(
    program
      .command('restore')
      .description('make a new data directory of a backup, and check all of it')
      .argument('<dir>', 'the folder of the backup'),
    BACKUP_SETTINGS,
  ).action((folder: string, given) =>
    run('restore', async () => {
      const settings = parseSettings(BACKUP_SETTINGS, given);
      const { restore } = await import('./backup.ts');
      await restore(folder, settings);
    }),
  );
}
