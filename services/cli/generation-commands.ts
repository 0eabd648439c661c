import type { CommandLine } from './operator-commands.ts';
import { OPERATOR_SETTINGS, parseSettings } from './settings.ts';

/** Commands that make read models anew, and go back to the ones there were. */
export function addGenerationCommands({ program, withSettings, run }: CommandLine): void {
  withSettings(
    program
      .command('rebuild')
      .description('make everything that is read anew beside what serves, compare both, and let it take over')
      .option('--graph', 'from the log; else from a copy of the content graph, compared with the log')
      .option(
        '--type <name>',
        'compare this content type alone; without --graph, of indices in Elasticsearch, make its alone',
      )
      .option('--world <world>', 'the same of a world, draft or published')
      .option(
        '--max-rate <number>',
        'events, and documents in Elasticsearch, a second at most (default: as many as leave queries as fast as they were)',
      )
      .option('--accept', 'the differences that the comparison finds are intended')
      .option('--pause', 'stop the rebuild that is under way; the same command goes on with it')
      .option('--cancel', 'give up the rebuild that is under way, leaving nothing behind')
      .option('--json', 'as JSON, for programs'),
    OPERATOR_SETTINGS,
  ).action(({ graph, type, world, maxRate, accept, pause, cancel, json, ...given }) =>
    run('rebuild', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { rebuild } = await import('./rebuild.ts');
      await rebuild({ graph, type, world, maxRate, accept, pause, cancel, json }, settings);
    }),
  );
  withSettings(
    program.command('rollback').description('take up again what served before the last rebuild'),
    OPERATOR_SETTINGS,
  ).action((given) =>
    run('rollback', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { rollback } = await import('./switch-generations.ts');
      await rollback(settings);
    }),
  );
  withSettings(
    program.command('drop').description('remove what is kept for a rollback'),
    OPERATOR_SETTINGS,
  ).action((given) =>
    run('drop', async () => {
      const settings = parseSettings(OPERATOR_SETTINGS, given);
      const { drop } = await import('./switch-generations.ts');
      await drop(settings);
    }),
  );
}
