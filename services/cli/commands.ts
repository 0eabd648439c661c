import { join } from 'node:path';
import { loadOptional } from '../../shared/load-optional.ts';
import { packageRoot } from '../../shared/package-root.ts';
import type { ArchiveOptions } from './commands/import-archive.ts';
import { GROUPED_COMMANDS } from './grouped-commands.ts';
import { type CommandRow, command, type Given, JSON_OPTION } from './settings/command.ts';
import { type ProcessRole, ROLE_SETTINGS } from './settings/roles.ts';
import {
  BACKUP_SETTINGS,
  type BackupSettings,
  IMPORT_SETTINGS,
  InvalidSettings,
  LOG_SETTINGS,
  OPERATOR_SETTINGS,
  parseSettings,
  SERVE_SETTINGS,
  type ServeSettings,
} from './settings/settings.ts';

/** All commands. Their code is imported when they run: `--help` and a refused option answer at once. */
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
    description: 'accept writes and write Elasticsearch, or be the standby',
    settings: ROLE_SETTINGS.project,
    parse: (given) => roleSettings('project', given),
    load: () => serving('project'),
  }),
  command({
    name: 'api',
    description: 'answer reads from Elasticsearch, and forward writes to the leader',
    settings: ROLE_SETTINGS.api,
    parse: (given) => roleSettings('api', given),
    load: async () => (await loadOptional('varve api', () => import('./serve/serve-api.ts'))).serveApi,
  }),
  command({
    name: 'import',
    description: 'append the documents of JSONL files to the log; repeated, it continues where it stopped',
    argument: ['<files...>', 'files of one document a line, or one that varve export or strapi export wrote'],
    options: [
      ['--dry-run', 'for an archive of strapi export: show what would be imported, and write nothing'],
      ['--json', 'for an archive of strapi export: print the summary as JSON'],
    ],
    settings: IMPORT_SETTINGS,
    // The log of an export needs fewer settings than documents do.
    parse: (given) => given,
    load: async () => importAny,
  }),
  ...GROUPED_COMMANDS,
  command({
    name: 'status',
    description: 'show the state of the log and of the read model',
    options: [JSON_OPTION],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/status.ts')).showStatus,
  }),
  command({
    name: 'events',
    description: 'show the history, oldest first',
    options: [
      ['--document <id>', 'only of this document'],
      ['--type <type>', 'only of this type, such as entry-changed'],
      ['--actor <who>', 'only by this token (id or name), process (id), or kind of author, such as import'],
      ['--since <when>', 'only since a date or datetime, or for this long, such as 12h'],
      ['--until <when>', 'only up to then'],
      ['--from <position>', 'start at this position of the log'],
      ['--follow', 'continue with new events'],
      ['--raw', 'print events as stored, also of older versions, of other programs and damaged ones'],
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
      ['--repair', 'rewrite wrong entries of the read index'],
      ['--head <head>', 'a head that varve status showed: check that the log still has it'],
      ['--assets [place]', 'also check the content of every uploaded file'],
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
    description: 'make a new data directory from a backup, and check all of it',
    argument: ['<dir>', 'the folder of the backup'],
    settings: BACKUP_SETTINGS,
    load: async () => (await import('./commands/backup.ts')).restore,
  }),
  command({
    name: 'export',
    description:
      'write the history of all content as JSON lines, for varve import; or the content for strapi import',
    argument: ['<file>', 'a new file, or - for stdout'],
    options: [['--strapi', 'write the current content as an archive (.tar.gz) for strapi import']],
    settings: BACKUP_SETTINGS,
    load: exportEither,
  }),
  command({
    name: 'rebuild',
    description: 'rebuild the read model next to the live one, verify it, and switch over',
    options: [
      ['--graph', 'replay the log; without it copy the content graph, and compare the copy with the log'],
      ['--copy', 'copy the content graph, and compare nothing'],
      [
        '--type <name>',
        'compare only this content type; without --graph on Elasticsearch, rebuild only its indices',
      ],
      ['--world <world>', 'the same for a world, draft or published'],
      [
        '--max-rate <number>',
        'maximum events, and documents in Elasticsearch, a second (default: as many as do not slow queries down)',
      ],
      ['--accept', 'accept the differences of the comparison'],
      ['--pause', 'stop the current rebuild; the same command continues it'],
      ['--cancel', 'cancel the current rebuild and remove everything it made'],
      JSON_OPTION,
    ],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/rebuild.ts')).rebuild,
  }),
  command({
    name: 'rollback',
    description: 'switch back to the generation before the last rebuild',
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/operate.ts')).rollback,
  }),
  command({
    name: 'drop',
    description: 'remove the generation that is kept for a rollback',
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/operate.ts')).drop,
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

/** The content of the files decides. An archive has its own content types. */
async function importAny(given: Given, options: ArchiveOptions, files: readonly string[]): Promise<void> {
  const { isExportFile, importHistory } = await import('./commands/import-history.ts');
  const { isArchive } = await import('../strapi/archive.ts');
  const [file] = files;
  if (file !== undefined && files.length === 1 && isArchive(file)) {
    const contentTypes = given['contentTypes'] ?? file;
    const { importArchiveFile } = await import('./commands/import-archive.ts');
    return importArchiveFile(file, parseSettings(IMPORT_SETTINGS, { ...given, contentTypes }), options);
  }
  refuseArchiveOptions(options);
  if (file !== undefined && files.length === 1 && (await isExportFile(file)))
    return importHistory(file, parseSettings(LOG_SETTINGS, given));
  const settings = parseSettings(IMPORT_SETTINGS, given);
  const { importFiles } = await import('./commands/import-files.ts');
  return importFiles(files, settings);
}

/** Without an archive a dry run would write. Throws InvalidSettings. */
function refuseArchiveOptions(options: ArchiveOptions): void {
  const [name] = Object.keys(options);
  if (name === undefined) return;
  const option = name === 'dryRun' ? '--dry-run' : `--${name}`;
  throw new InvalidSettings(`  ${option} needs one archive of strapi export, and no other files`);
}

/** A setting without an option in a role has its default. */
async function roleSettings(role: ProcessRole, given: Given): Promise<ServeSettings> {
  const settings = parseSettings(SERVE_SETTINGS, given);
  const { refuseUnusable } = await import('./settings/refuse-unusable.ts');
  refuseUnusable(role, settings);
  return settings;
}

/** Options from commander: `--examples` without content types means the restaurant guide that comes with Varve. */
function withExampleTypes(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { examples, contentTypes } = given;
  const wanted = examples !== undefined && !['false', '0'].includes(String(examples));
  if (contentTypes !== undefined || !wanted) return given;
  return { ...given, contentTypes: join(packageRoot(import.meta.url), 'examples/restaurants') };
}
