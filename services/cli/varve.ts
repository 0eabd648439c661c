#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { withExampleTypes } from './example-types.ts';
import { addGenerationCommands } from './generation-commands.ts';
import { addOperatorCommands } from './operator-commands.ts';
import { packageRoot } from './package-root.ts';
import { packageVersion } from './package-version.ts';
import { ROLE_SETTINGS, type Role } from './roles.ts';
import { readSecretFiles } from './secret-files.ts';
import {
  IMPORT_SETTINGS,
  InvalidSettings,
  LOG_SETTINGS,
  OPERATOR_SETTINGS,
  parseSettings,
  SERVE_SETTINGS,
  type ServeSettings,
  type SettingsTable,
  TOKEN_SETTINGS,
} from './settings.ts';

// Half of a start would be reading, stripping and compiling the same files again.
const compileCache = join(packageRoot(import.meta.url), 'node_modules/.cache/varve');
enableCompileCache(compileCache);
// Threads and child processes begin without it.
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

// What a command needs is imported when it runs: `--help` and a refused option answer at once.
const program = new Command('varve')
  .description("Serves Strapi 5's REST Content API from an event log.")
  .version(packageVersion());

withSettings(program.command('serve').description('start the server'), ROLE_SETTINGS.serve).action((given) =>
  run('serve', async () => {
    const settings = await roleSettings('serve', withExampleTypes(given));
    const { serve } = await import('./serve.ts');
    await serve(settings);
  }),
);

withSettings(
  program.command('project').description('take writes and write Elasticsearch, or stand by'),
  ROLE_SETTINGS.project,
).action((given) =>
  run('project', async () => {
    const settings = await roleSettings('project', given);
    const { serve } = await import('./serve.ts');
    await serve(settings, 'project');
  }),
);

withSettings(
  program.command('api').description('answer reads from Elasticsearch, and have the leader write'),
  ROLE_SETTINGS.api,
).action((given) =>
  run('api', async () => {
    const settings = await roleSettings('api', given);
    const { serveApi } = await import('./serve-api.ts');
    await serveApi(settings);
  }),
);

withSettings(
  program
    .command('import')
    .description('append the documents of JSONL files to the log; again, it goes on where it stopped')
    .argument('<files...>', 'files of one document a line, or one that varve export wrote'),
  IMPORT_SETTINGS,
).action((files: string[], given) =>
  run('import', async () => {
    const { beginsAsExport, importHistory } = await import('./import-history.ts');
    const [file] = files;
    if (file !== undefined && files.length === 1 && (await beginsAsExport(file)))
      return importHistory(file, parseSettings(LOG_SETTINGS, given));
    const settings = parseSettings(IMPORT_SETTINGS, given);
    const { importFiles } = await import('./import-files.ts');
    await importFiles(files, settings);
  }),
);

const token = program.command('token').description('make, list and revoke access tokens');

withSettings(
  token
    .command('create')
    .description('make a token and show it, this once')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--type <type>', 'read-only, full-access or custom')
    .option('--allow <rights>', 'of a custom token, such as restaurant.find,chef.*')
    .option('--drafts', 'it may see drafts')
    .option('--expires <time>', 'such as 12h, 30d, 4w or 2030-01-31 (default: never)'),
  TOKEN_SETTINGS,
).action(({ name, type, allow, drafts, expires, ...given }) =>
  run('token create', async () => {
    const settings = parseSettings(TOKEN_SETTINGS, given);
    const { createToken } = await import('./token.ts');
    await createToken({ name, type, allow, drafts, expires }, settings);
  }),
);

withSettings(token.command('list').description('all tokens there ever were'), TOKEN_SETTINGS).action(
  (given) =>
    run('token list', async () => {
      const settings = parseSettings(TOKEN_SETTINGS, given);
      const { listTokens } = await import('./token.ts');
      await listTokens(settings);
    }),
);

withSettings(
  token.command('revoke').description('end a token now, wherever it is used').argument('<id-or-name>'),
  TOKEN_SETTINGS,
).action((idOrName: string, given) =>
  run('token revoke', async () => {
    const settings = parseSettings(TOKEN_SETTINGS, given);
    const { revokeToken } = await import('./token.ts');
    await revokeToken(idOrName, settings);
  }),
);

addOperatorCommands({ program, withSettings, run });
addGenerationCommands({ program, withSettings, run });

await run(process.argv[2] ?? 'varve', async () => {
  const tables: readonly SettingsTable[] = [
    SERVE_SETTINGS,
    IMPORT_SETTINGS,
    TOKEN_SETTINGS,
    OPERATOR_SETTINGS,
  ];
  const variables = tables.flatMap((table) => Object.values(table).map(({ variable }) => variable));
  Object.assign(process.env, readSecretFiles(process.env, new Set<string>(variables)));
  await program.parseAsync();
});

/** What a role has no option for has its default. */
async function roleSettings(role: Role, given: Readonly<Record<string, unknown>>): Promise<ServeSettings> {
  const settings = parseSettings(SERVE_SETTINGS, given);
  const { refuseUnusable } = await import('./refuse-unusable.ts');
  refuseUnusable(role, settings);
  return settings;
}

function withSettings(command: Command, table: SettingsTable): Command {
  for (const { flags, description, variable } of Object.values(table)) {
    command.addOption(new Option(flags, description).env(variable));
  }
  return command;
}

/** A failure is a message on stderr and exit code 1; a stack only when nobody foresaw it. */
async function run(command: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof InvalidSettings)
      console.error(`varve ${command}: settings that cannot be used\n${error.message}`);
    else console.error(`varve ${command}: ${(error as Error).message}`);
    if (process.env['VARVE_LOG_LEVEL'] === 'debug') console.error(error);
    process.exitCode = 1;
    // Of a start that failed, what was opened by then would keep the process.
    if (Object.hasOwn(ROLE_SETTINGS, command)) process.exit();
  }
}
