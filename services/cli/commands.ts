import { statSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../shared/defined.ts';
import { packageRoot } from '../../shared/package-root.ts';
import type { ArchiveOptions } from './commands/import-archive.ts';
import { GROUPED_COMMANDS } from './grouped-commands.ts';
import { serving, servingApi } from './load-servers.ts';
import { type CommandRow, command, type Given, JSON_OPTION } from './settings/command.ts';
import { LOG_SETTINGS } from './settings/data-settings.ts';
import { type ProcessRole, ROLE_SETTINGS } from './settings/roles.ts';
import {
  BACKUP_SETTINGS,
  type BackupSettings,
  IMPORT_SETTINGS,
  InvalidSettings,
  OPERATOR_SETTINGS,
  parseServeSettings,
  parseSettings,
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
    description: 'start a server that accepts writes and writes Elasticsearch, or waits as a standby',
    settings: ROLE_SETTINGS.project,
    parse: (given) => roleSettings('project', given),
    load: () => serving('project'),
  }),
  command({
    name: 'api',
    description: 'start a server that answers reads from Elasticsearch, and forwards writes to the leader',
    settings: ROLE_SETTINGS.api,
    parse: (given) => roleSettings('api', given),
    load: servingApi,
  }),
  command({
    name: 'import',
    description:
      'append the documents of JSON lines, a JSON array or a CSV file to the log; to continue an interrupted import, run the command again',
    argument: [
      '<files...>',
      "JSONL or CSV files with one document per line, or one file from varve export or strapi export, or Strapi's database: its SQLite file, or postgres://user@host/database",
    ],
    options: [
      ['--dry-run', 'show what would be imported, and write nothing'],
      ['--type <type>', 'content type of the rows of CSV files, such as api::tag.tag'],
      ['--json', "with Strapi's archive or database: print the summary as JSON"],
    ],
    settings: IMPORT_SETTINGS,
    // importAny parses the settings: the import of an export needs fewer than an import of documents.
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
    name: 'settings',
    description:
      'show the settings of the running server and their sources, and what of the project it does not serve',
    options: [['--all', 'also print settings that have their defaults'], JSON_OPTION],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/settings.ts')).showSettings,
  }),
  command({
    name: 'events',
    description: 'show the history, oldest first',
    options: [
      ['--document <id>', 'only events of this document'],
      ['--type <type>', 'only events of this type, such as entry-changed'],
      [
        '--actor <who>',
        'only events by this token (id or name), this process (id) or this kind of author, such as import',
      ],
      ['--since <when>', 'only events since a date or datetime, or since a time ago, such as 12h'],
      ['--until <when>', 'only events up to a date or datetime, or up to a time ago, such as 12h'],
      ['--from <position>', 'start at this position of the log'],
      ['--last <number>', 'only the last events, such as 20'],
      ['--follow', 'keep printing new events'],
      [
        '--raw',
        'print events as they are stored, including old versions, damaged events and events of other programs',
      ],
      JSON_OPTION,
    ],
    settings: LOG_SETTINGS,
    load: async () => (await import('./commands/events.ts')).showEvents,
  }),
  command({
    name: 'verify',
    description:
      'check every event of the log, compare the read index with the content graph, and compare the graph with the log',
    options: [
      ['--repair', 'rewrite wrong entries of the read index'],
      ['--head <head>', 'check that the log still contains this head, which varve status showed earlier'],
      [
        '--assets [location]',
        'also check the content of every uploaded file (default location: that of the server)',
      ],
      JSON_OPTION,
    ],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/verify.ts')).verify,
  }),
  command({
    name: 'erase',
    description:
      'erase documents for good: their values in every event of the log, and everything made of them',
    argument: [
      '[document...]',
      'content type, and documentId unless --where finds the documents: api::tag.tag abc',
    ],
    options: [
      ['--where <filters>', "erase all documents that match, such as 'filters[email]=ada@example.org'"],
      [
        '--ledger <file>',
        'erase again what this file names and exists again: erasures.jsonl of a data directory',
      ],
      ['--reason <text>', 'why; stays in the log, so name no person'],
      ['--confirm <count>', 'number of documents that are erased (default: only show what would be erased)'],
      JSON_OPTION,
    ],
    settings: OPERATOR_SETTINGS,
    load: async () => (await import('./commands/erase.ts')).erase,
  }),
  command({
    name: 'backup',
    description: 'copy the current log and the uploaded files to a new folder',
    argument: ['<dir>', 'the new folder'],
    options: [JSON_OPTION],
    settings: BACKUP_SETTINGS,
    load: async () => (await import('./commands/backup.ts')).backup,
  }),
  command({
    name: 'restore',
    description: 'create a data directory from a backup, and check all of it',
    argument: ['<dir>', 'the folder of the backup'],
    options: [
      ['--erasures <file>', 'erase again what this file names: erasures.jsonl of the data directory'],
    ],
    settings: BACKUP_SETTINGS,
    load: async () => (await import('./commands/backup.ts')).restore,
  }),
  command({
    name: 'export',
    description:
      'write the history of all content as JSON lines for varve import; with --strapi, write the content for strapi import',
    argument: ['<file>', 'a new file, or - for stdout'],
    options: [['--strapi', 'write the current content as an archive (.tar.gz) for strapi import']],
    settings: BACKUP_SETTINGS,
    load: exportEither,
  }),
  command({
    name: 'rebuild',
    description: 'rebuild the read model next to the live one, verify it, and switch over',
    options: [
      [
        '--graph',
        'replay the log; without this option, copy the content graph and compare the copy with the log',
      ],
      ['--copy', 'copy the content graph without comparing it'],
      [
        '--type <name>',
        'compare only this content type; with Elasticsearch and without --graph, also rebuild only its indices',
      ],
      [
        '--world <world>',
        'compare only this world, draft or published; with Elasticsearch and without --graph, also rebuild only its indices',
      ],
      [
        '--max-rate <number>',
        'maximum number of events per second, and of documents per second in Elasticsearch (default: as many as do not slow queries down)',
      ],
      ['--accept', 'switch over even if the comparison finds differences'],
      ['--pause', 'pause the current rebuild; the command that started it continues it'],
      ['--cancel', 'cancel the current rebuild, and remove everything that it made'],
      ['--differences', 'show the differences that stopped the last rebuild'],
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

async function exportEither() {
  const { exportTo } = await import('./commands/export.ts');
  const { exportToStrapi } = await import('./commands/export-to-strapi.ts');
  return (settings: BackupSettings, { strapi }: { readonly strapi?: true }, file: string) =>
    strapi === true ? exportToStrapi(settings, file) : exportTo(settings, file);
}

type ImportOptions = ArchiveOptions & { readonly type?: string };

/** Imports an archive, an export or documents, depending on the content of the files. An archive has its own content types. */
async function importAny(given: Given, options: ImportOptions, files: readonly string[]): Promise<void> {
  const { isExportFile, importHistory } = await import('./commands/import-history.ts');
  const { isArchive } = await import('../strapi/archive.ts');
  const type = await typeOfRows(options, files);
  const [file] = files;
  if (file !== undefined && files.length === 1 && isArchive(file)) {
    const contentTypes = given['contentTypes'] ?? file;
    const { importArchiveFile } = await import('./commands/import-archive.ts');
    return importArchiveFile(file, parseSettings(IMPORT_SETTINGS, { ...given, contentTypes }), options);
  }
  const { isDatabase, isPostgresUrl } = await import('../strapi/stage-database.ts');
  if (files.some(isPostgresUrl)) return importPostgres(given, options, files);
  if (file !== undefined && files.length === 1 && isDatabase(file)) {
    const { importArchiveFile, projectOfDatabase } = await import('./commands/import-archive.ts');
    const contentTypes = given['contentTypes'] ?? projectOfDatabase(file);
    return importArchiveFile(file, parseSettings(IMPORT_SETTINGS, { ...given, contentTypes }), options);
  }
  if (options.json)
    throw new InvalidSettings("--json needs Strapi's archive or database, and no other files");
  refuseFolders(files);
  if (file !== undefined && type === undefined && files.length === 1 && (await isExportFile(file))) {
    if (options.dryRun) throw new InvalidSettings('--dry-run is not possible with a file from varve export');
    return importHistory(file, parseSettings(LOG_SETTINGS, given));
  }
  const settings = parseSettings(IMPORT_SETTINGS, given);
  const { importFiles, rehearseFiles } = await import('./commands/import-files.ts');
  const named = { files, ...defined({ type }) };
  return options.dryRun ? rehearseFiles(named, settings) : importFiles(named, settings);
}

/** Imports Strapi's PostgreSQL database. The content types are those of the project in this folder, unless others are given. */
async function importPostgres(
  given: Given,
  options: ImportOptions,
  [url = '', ...others]: readonly string[],
) {
  if (others.length > 0) throw new InvalidSettings('import the database alone, without other files');
  const contentTypes = given['contentTypes'] ?? process.cwd();
  const { importArchiveFile } = await import('./commands/import-archive.ts');
  return importArchiveFile(url, parseSettings(IMPORT_SETTINGS, { ...given, contentTypes }), options);
}

/** Returns the content type of CSV files. Throws InvalidSettings unless it is given for them, and for no other files. */
async function typeOfRows({ type }: ImportOptions, files: readonly string[]): Promise<string | undefined> {
  const { isCsv } = await import('../transfer/csv-lines.ts');
  const csv = files.find(isCsv);
  if (csv !== undefined && type === undefined)
    throw new InvalidSettings(
      `${csv} needs --type with the content type of its rows, such as --type api::tag.tag`,
    );
  if (csv === undefined && type !== undefined)
    throw new InvalidSettings('--type is for CSV files, whose names end with .csv');
  return type;
}

/** Throws InvalidSettings for a folder, which the system's error of a read does not name. */
function refuseFolders(files: readonly string[]): void {
  const folder = files.find((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory());
  if (folder !== undefined)
    throw new InvalidSettings(`${folder} is a folder: name the files, as in ${join(folder, '*.jsonl')}`);
}

/** Parses the settings of a role. Throws InvalidSettings, also for combinations that cannot work in the role. */
async function roleSettings(role: ProcessRole, given: Given): Promise<ServeSettings> {
  const settings = parseServeSettings(given);
  const { refuseUnusable } = await import('./settings/refuse-unusable.ts');
  refuseUnusable(role, settings);
  return settings;
}

/** Adds the content types of Varve's restaurant guide to the options if they have `--examples`, and no content types. */
function withExampleTypes(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { examples, contentTypes } = given;
  const wanted = examples !== undefined && !['false', '0'].includes(String(examples));
  if (contentTypes !== undefined || !wanted) return given;
  return { ...given, contentTypes: join(packageRoot(import.meta.url), 'examples/restaurants') };
}
