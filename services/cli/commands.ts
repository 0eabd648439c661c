import { loadOptional } from '../../shared/load-optional.ts';
import type { ArchiveOptions } from './commands/import-archive.ts';
import { type CommandRow, command, type Given, JSON_OPTION } from './settings/command.ts';
import { withExampleTypes } from './settings/example-types.ts';
import { ROLE_SETTINGS, type Role } from './settings/roles.ts';
import {
  BACKUP_SETTINGS,
  type BackupSettings,
  IMPORT_SETTINGS,
  LOG_SETTINGS,
  OPERATOR_SETTINGS,
  parseSettings,
  SERVE_SETTINGS,
  type ServeSettings,
  TOKEN_SETTINGS,
} from './settings/settings.ts';

export const COMMAND_GROUPS = {
  token: 'make, list and revoke access tokens',
  parked: 'documents that the read index refused',
  assets: 'uploaded files',
} as const;

/** All commands. What one needs is imported when it runs: `--help` and a refused option answer at once. */
export const COMMANDS: readonly CommandRow[] = [
  command({
    name: 'serve',
    description: 'start the server',
    settings: ROLE_SETTINGS.serve,
    parse: (given) => roleSettings('serve', withExampleTypes(given)),
    load: () => serving('serve'),
  }),
  command({
    name: 'project',
    description: 'take writes and write Elasticsearch, or stand by',
    settings: ROLE_SETTINGS.project,
    parse: (given) => roleSettings('project', given),
    load: () => serving('project'),
  }),
  command({
    name: 'api',
    description: 'answer reads from Elasticsearch, and have the leader write',
    settings: ROLE_SETTINGS.api,
    parse: (given) => roleSettings('api', given),
    load: async () => (await loadOptional('varve api', () => import('./serve/serve-api.ts'))).serveApi,
  }),
  command({
    name: 'import',
    description: 'append the documents of JSONL files to the log; again, it goes on where it stopped',
    argument: ['<files...>', 'files of one document a line, or one that varve export or strapi export wrote'],
    options: [
      ['--dry-run', 'of an archive of strapi export: say what would come in, and write nothing'],
      ['--json', 'of an archive of strapi export: the summary as JSON'],
    ],
    settings: IMPORT_SETTINGS,
    // The log of an export needs fewer settings than documents do.
    parse: (given) => given,
    load: async () => importAny,
  }),
  command({
    name: 'token create',
    description: 'make a token and show it, this once',
    options: [
      ['--name <name>', 'what it is for', 'required'],
      ['--type <type>', 'read-only, full-access or custom', 'required'],
      ['--allow <rights>', 'of a custom token, such as restaurant.find,chef.*'],
      ['--drafts', 'it may see drafts'],
      ['--expires <time>', 'such as 12h, 30d, 4w or 2030-01-31 (default: never)'],
      ['--token-stdin', 'take the token from stdin, such as one that clients have from Strapi'],
    ],
    settings: TOKEN_SETTINGS,
    load: async () => (await import('./commands/token.ts')).createToken,
  }),
  command({
    name: 'token list',
    description: 'all tokens there ever were',
    settings: TOKEN_SETTINGS,
    load: async () => (await import('./commands/token.ts')).listTokens,
  }),
  command({
    name: 'token revoke',
    description: 'end a token now, wherever it is used',
    argument: ['<id-or-name>'],
    settings: TOKEN_SETTINGS,
    load: async () => (await import('./commands/token.ts')).revokeToken,
  }),
  command({
    name: 'parked list',
    description: 'all of them, and why',
    options: [JSON_OPTION],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/parked.ts')).listParked,
  }),
  command({
    name: 'parked show',
    description: 'one of them, with its row',
    argument: ['<item-or-document>'],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/parked.ts')).showParked,
  }),
  command({
    name: 'parked retry',
    description: 'write them once more',
    argument: ['[items-or-documents...]'],
    options: [['--all', 'every one']],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/parked.ts')).retryParked,
  }),
  command({
    name: 'parked drop',
    description: 'leave them as they are in the index',
    argument: ['[items-or-documents...]'],
    options: [['--all', 'every one']],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/parked.ts')).dropParked,
  }),
  command({
    name: 'assets formats',
    description: 'have the running server make the smaller pictures of files that have none',
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/asset-formats.ts')).makeAssetFormats,
  }),
  command({
    name: 'status',
    description: 'show where the log and everything made from it stand',
    options: [JSON_OPTION],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/status.ts')).showStatus,
  }),
  command({
    name: 'events',
    description: 'show the history, oldest first',
    options: [
      ['--document <id>', 'of this document alone'],
      ['--type <type>', 'of this type alone, such as entry-changed'],
      [
        '--actor <who>',
        'by a token (its id or name), a process (its id), or a kind of author, such as import',
      ],
      ['--since <when>', 'not before a date or datetime, or so long ago, such as 12h'],
      ['--until <when>', 'not after it'],
      ['--from <position>', 'from this position of the log on'],
      ['--follow', 'go on with what happens from now on'],
      ['--raw', 'as JSON, as stored: of older versions, of other programs and damaged ones too'],
      JSON_OPTION,
    ],
    settings: LOG_SETTINGS,
    load: async () => (await import('./commands/events.ts')).showEvents,
  }),
  command({
    name: 'verify',
    description:
      'check every event of the log, and compare the read index with the content graph, and the graph with the log',
    options: [
      ['--repair', 'make anew what the read index has wrong'],
      ['--head <head>', 'a head that varve status showed: the log must still have it'],
      ['--assets [place]', 'look for the content of every uploaded file as well'],
      JSON_OPTION,
    ],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/verify.ts')).verify,
  }),
  command({
    name: 'backup',
    description: 'copy the log as it is now, and the uploaded files, to a new folder',
    argument: ['<dir>', 'the folder'],
    options: [JSON_OPTION],
    settings: BACKUP_SETTINGS,
    load: async () => (await import('./commands/backup.ts')).backup,
  }),
  command({
    name: 'restore',
    description: 'make a new data directory of a backup, and check all of it',
    argument: ['<dir>', 'the folder of the backup'],
    settings: BACKUP_SETTINGS,
    load: async () => (await import('./commands/backup.ts')).restore,
  }),
  command({
    name: 'export',
    description:
      'write the history of all content as JSON lines, for varve import; or the content for strapi import',
    argument: ['<file>', 'a new file, or - for stdout'],
    options: [['--strapi', 'an archive (.tar.gz) that strapi import takes, of the content as it is now']],
    settings: BACKUP_SETTINGS,
    load: exportEither,
  }),
  command({
    name: 'rebuild',
    description: 'make everything that is read anew beside what serves, compare both, and let it take over',
    options: [
      ['--graph', 'from the log; else from a copy of the content graph, compared with the log'],
      [
        '--type <name>',
        'compare this content type alone; without --graph, of indices in Elasticsearch, make its alone',
      ],
      ['--world <world>', 'the same of a world, draft or published'],
      [
        '--max-rate <number>',
        'events, and documents in Elasticsearch, a second at most (default: as many as leave queries as fast as they were)',
      ],
      ['--accept', 'the differences that the comparison finds are intended'],
      ['--pause', 'stop the rebuild that is under way; the same command goes on with it'],
      ['--cancel', 'give up the rebuild that is under way, leaving nothing behind'],
      JSON_OPTION,
    ],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/rebuild.ts')).rebuild,
  }),
  command({
    name: 'rollback',
    description: 'take up again what served before the last rebuild',
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/switch-generations.ts')).rollback,
  }),
  command({
    name: 'drop',
    description: 'remove what is kept for a rollback',
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/switch-generations.ts')).drop,
  }),
];

async function serving(role: 'serve' | 'project'): Promise<(settings: ServeSettings) => Promise<void>> {
  const { serve } = await import('./serve/serve.ts');
  return (settings) => serve(settings, role);
}

async function exportEither() {
  const { exportTo } = await import('./commands/export.ts');
  const { exportToStrapi } = await import('./commands/export-to-strapi.ts');
  return (settings: BackupSettings, { strapi }: { readonly strapi?: true }, file: string) =>
    strapi === true ? exportToStrapi(settings, file) : exportTo(settings, file);
}

/** The files say what they are. An archive has content types of its own. */
async function importAny(given: Given, options: ArchiveOptions, files: readonly string[]): Promise<void> {
  const { beginsAsExport, importHistory } = await import('./commands/import-history.ts');
  const { isArchive } = await import('../strapi/archive.ts');
  const [file] = files;
  if (file !== undefined && files.length === 1 && isArchive(file)) {
    const contentTypes = given['contentTypes'] ?? file;
    const { importArchiveFile } = await import('./commands/import-archive.ts');
    return importArchiveFile(file, parseSettings(IMPORT_SETTINGS, { ...given, contentTypes }), options);
  }
  if (file !== undefined && files.length === 1 && (await beginsAsExport(file)))
    return importHistory(file, parseSettings(LOG_SETTINGS, given));
  const settings = parseSettings(IMPORT_SETTINGS, given);
  const { importFiles } = await import('./commands/import-files.ts');
  return importFiles(files, settings);
}

/** What a role has no option for has its default. */
async function roleSettings(role: Role, given: Given): Promise<ServeSettings> {
  const settings = parseSettings(SERVE_SETTINGS, given);
  const { refuseUnusable } = await import('./settings/refuse-unusable.ts');
  refuseUnusable(role, settings);
  return settings;
}
