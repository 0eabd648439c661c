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

function addParkedCommands({ program, withSettings, run }: CommandLine): void {
  const parked = program.command('parked').description('documents that the read index refused');
  withSettings(
    parked
      .command('list')
      .description('all of them, and why')
      .option(...JSON_OPTION),
    OPERATOR_SETTINGS,
  ).action(({ json, ...given }) =>
    run('parked list', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { listParked } = await import('./parked.ts');
      await listParked(json === true, settings);
    }),
  );
  withSettings(
    parked.command('show').description('one of them, with its row').argument('<item-or-document>'),
    OPERATOR_SETTINGS,
  ).action((item: string, given) =>
    run('parked show', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { showParked } = await import('./parked.ts');
      await showParked(item, settings);
    }),
  );
  const decisions = { retry: 'write them once more', drop: 'leave them as they are in the index' } as const;
  for (const action of ['retry', 'drop'] as const) {
    withSettings(
      parked
        .command(action)
        .description(decisions[action])
        .argument('[items-or-documents...]')
        .option('--all', 'every one'),
      OPERATOR_SETTINGS,
    ).action((items: string[], { all, ...given }) =>
      run(`parked ${action}`, async () => {
        const settings = parseSettings(OPERATOR_SETTINGS, given);
        const { decideParked } = await import('./parked.ts');
        await decideParked(action, items, all === true, settings);
      }),
    );
  }
}

/** Commands that work on a data directory whether or not a server holds it. */
export function addOperatorCommands(line: CommandLine): void {
  const { program, withSettings, run } = line;
  addParkedCommands(line);
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
      .option('--type <type>', 'of this type alone, such as entry-changed')
      .option(
        '--actor <who>',
        'by a token (its id or name), a process (its id), or a kind of author, such as import',
      )
      .option('--since <when>', 'not before a date or datetime, or so long ago, such as 12h')
      .option('--until <when>', 'not after it')
      .option('--from <position>', 'from this position of the log on')
      .option('--follow', 'go on with what happens from now on')
      .option('--raw', 'as JSON, as stored: of older versions, of other programs and damaged ones too')
      .option(...JSON_OPTION),
    LOG_SETTINGS,
  ).action(({ document, type, actor, since, until, from, follow, raw, json, ...given }) =>
    run('events', async () => {
      const settings = parseSettings(LOG_SETTINGS, given);
      const { showEvents } = await import('./events.ts');
      await showEvents({ document, type, actor, since, until, from, follow, raw, json }, settings);
    }),
  );
  withSettings(
    program
      .command('verify')
      .description(
        'check every event of the log, and compare the read index with the content graph, and the graph with the log',
      )
      .option('--repair', 'make anew what the read index has wrong')
      .option('--head <head>', 'a head that varve status showed: the log must still have it')
      .option('--assets [place]', 'look for the content of every uploaded file as well')
      .option(...JSON_OPTION),
    OPERATOR_SETTINGS,
  ).action(({ repair, assets, json, head, ...given }) =>
    run('verify', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { verify } = await import('./verify.ts');
      await verify({ assets, repair: repair === true, json: json === true, head }, settings);
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
  withSettings(
    program
      .command('export')
      .description('write the history of all content as JSON lines, for varve import')
      .argument('<file>', 'a new file, or - for stdout'),
    LOG_SETTINGS,
  ).action((file: string, given) =>
    run('export', async () => {
      const settings = parseSettings(LOG_SETTINGS, given);
      const { exportTo } = await import('./export.ts');
      await exportTo(file, settings);
    }),
  );
}
