import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pino } from 'pino';
import { defined } from '../../../shared/defined.ts';
import { makeFolder } from '../../../shared/make-folder.ts';
import type { OperatorChannel } from '../../../shared/sqlite/lock-data-directory.ts';
import { callOperator } from '../../operator/call-operator.ts';
import type { ArchiveLine } from '../../operator/import-archive.ts';
import { channelOfHolder } from '../../operator/open-operations.ts';
import { withScratchDirectory } from '../../operator/scratch-directory.ts';
import { copyPostgres } from '../../strapi/copy-postgres.ts';
import { type ArchiveSummary, importArchive } from '../../strapi/import-archive.ts';
import { type DatabaseSource, isDatabase, isPostgresUrl } from '../../strapi/stage-database.ts';
import { collectionNames } from '../../strapi/strapi-tables.ts';
import { presentSummary } from '../output/archive-summary.ts';
import { showProgress } from '../output/import-progress.ts';
import { type ReadContentTypes, readContentTypes } from '../settings/read-content-types.ts';
import type { ImportSettings } from '../settings/settings.ts';
import { type ImportTarget, importHere } from './import-here.ts';
import { inTemporaryFolder, type Rehearsal, rehearseImport } from './rehearse-import.ts';

export type ArchiveOptions = { readonly dryRun?: true; readonly json?: true };

/**
 * `varve import` of an archive that `strapi export` wrote, or of Strapi's database: its SQLite file, or the address of its PostgreSQL. With
 * `--dry-run` it shows the rows of the first ten documents as answers have them, and writes nothing. Without other content types in the
 * settings, an archive has its own. Throws at the end if documents were refused.
 */
export async function importArchiveFile(
  given: string,
  settings: ImportSettings,
  options: ArchiveOptions,
): Promise<void> {
  const contentTypes = await readContentTypes(settings, pino({ level: 'warn' }, pino.destination(2)));
  const started = performance.now();
  const { result: summary, rows } = isPostgresUrl(given)
    ? await inTemporaryFolder(async (folder) => {
        const file = join(folder, 'postgres.db');
        const collections = collectionNames(contentTypes.definitions);
        await copyPostgres({ url: given, file, collections });
        const database = sourceOf(settings, contentTypes);
        return imported({ file, database, settings }, contentTypes, options);
      })
    : await imported(
        { file: given, database: databaseOf(given, settings, contentTypes), settings },
        contentTypes,
        options,
      );
  if (options.json !== true) for (const row of rows) console.log(row);
  report(summary, (performance.now() - started) / 1000, options);
}

async function imported(
  source: Source,
  contentTypes: ReadContentTypes,
  { dryRun }: ArchiveOptions,
): Promise<Rehearsal<ArchiveSummary>> {
  const run = (target: ImportTarget, scratch: string) => {
    const { file, database, settings } = source;
    const progress = showImport(file);
    const stagingFile = join(scratch, 'archive.db');
    const options = { ...settings, ...target, ...progress, file, database, stagingFile };
    return importArchive(options).finally(progress.end);
  };
  if (dryRun === true) return rehearseImport(source.settings, contentTypes, run);
  return { result: await inData(source, contentTypes, run), rows: [] };
}

/** Prints the summary. Throws if documents were refused, or the import differs from its source. */
function report(summary: ArchiveSummary, seconds: number, { dryRun, json }: ArchiveOptions): void {
  if (json)
    console.log(
      JSON.stringify({ ...summary, dryRun: dryRun === true, seconds: Number(seconds.toFixed(1)) }, null, 2),
    );
  else console.log(presentSummary(summary, seconds, dryRun === true));
  if (summary.refused.length > 0)
    throw new Error(
      `${summary.refused.length} documents were refused; run the command again, imported documents are not written twice`,
    );
  if (summary.mismatches.length > 0)
    throw new Error(`the import differs from the archive in ${summary.mismatches.length} places, see above`);
}

/** Returns facts about the project of a SQLite database; undefined for an archive. */
function databaseOf(
  file: string,
  settings: ImportSettings,
  contentTypes: ReadContentTypes,
): DatabaseSource | undefined {
  return isDatabase(file) ? sourceOf(settings, contentTypes, projectOfDatabase(file)) : undefined;
}

/** Returns facts about the project of a database: the names of its tables, and the folder of its uploads. */
function sourceOf(
  { contentTypes: folder }: ImportSettings,
  { definitions }: ReadContentTypes,
  ...others: readonly string[]
): DatabaseSource {
  const projects = [...others, folder, dirname(resolve(folder))];
  const uploads = projects.map((project) => join(project, 'public/uploads')).find((each) => existsSync(each));
  return { collections: collectionNames(definitions), uploads: uploads && resolve(uploads) };
}

/** Returns the folder of the project of a database, which Strapi has at `.tmp/data.db`. */
export function projectOfDatabase(file: string): string {
  return dirname(dirname(resolve(file)));
}

type Run = (target: ImportTarget, scratch: string) => Promise<ArchiveSummary>;

/** Lets the server that holds the data directory read and import the archive, while it answers requests. */
async function importByServer(
  { file, database, settings: { key, roleDrafts } }: Source,
  channel: OperatorChannel,
): Promise<ArchiveSummary> {
  const progress = showImport(file);
  // The server may have another working directory.
  const request = { file: resolve(file), roleDrafts, ...defined({ key, database }) };
  let summary: ArchiveSummary | undefined;
  try {
    for await (const line of callOperator(channel, 'import-archive', request) as AsyncIterable<ArchiveLine>) {
      if (line.kind === 'bytes') progress.onBytes(line.bytes);
      if (line.kind === 'documents') progress.onDocuments(line.documents, line.total);
      if (line.kind === 'summary') summary = line.summary;
    }
  } finally {
    progress.end();
  }
  if (summary === undefined) throw new Error('the server ended the import without a summary');
  return summary;
}

type Source = {
  readonly file: string;
  readonly database: DatabaseSource | undefined;
  readonly settings: ImportSettings;
};

async function inData(source: Source, contentTypes: ReadContentTypes, run: Run): Promise<ArchiveSummary> {
  const { settings } = source;
  try {
    return await importHere(settings, contentTypes, (target) => {
      makeFolder(settings.data);
      return withScratchDirectory(settings.data, (scratch) => run(target, scratch));
    });
  } catch (error) {
    return importByServer(source, channelOfHolder(error));
  }
}

/** Shows two bars: one for the archive that is read, then one for the documents that are written. */
function showImport(file: string) {
  const reading = showProgress(statSync(file).size, 'reading');
  let writing: ReturnType<typeof showProgress> | undefined;
  let shown = 0;
  return {
    onBytes: reading.advance,
    onDocuments(documents: number, total: number) {
      if (writing === undefined) reading.end();
      writing ??= showProgress(total, 'importing');
      writing.advance(documents - shown);
      shown = documents;
    },
    end() {
      if (writing === undefined) reading.end();
      writing?.end();
    },
  };
}
