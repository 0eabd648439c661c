import { resolve } from 'node:path';
import { pino } from 'pino';
import { callOperator } from '../../operator/call-operator.ts';
import { channelOfHolder } from '../../operator/open-operations.ts';
import { type DocumentImport, type ImportedLine, importDocuments } from '../../transfer/import-documents.ts';
import { type ImportProgress, showProgress } from '../output/import-progress.ts';
import { presentRate } from '../output/present-amounts.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import type { ImportSettings } from '../settings/settings.ts';
import { importHere } from './import-here.ts';
import { rehearseImport } from './rehearse-import.ts';

/** Files with documents, and the content type of CSV files among them. */
export type DocumentFiles = Pick<DocumentImport, 'files' | 'type'>;

/**
 * `varve import`: appends the document of every line, and names every line that it refuses. Ids are derived from the
 * lines, so existing documents are not written again. An import that was interrupted, or whose lines were corrected, can be
 * repeated. The server of the data directory imports while it serves; without a server, this process imports.
 */
export async function importFiles(files: DocumentFiles, settings: ImportSettings): Promise<void> {
  const contentTypes = await readContentTypes(settings, pino({ level: 'warn' }, pino.destination(2)));
  try {
    const { defaultLocale, space } = settings;
    const show = await importHere(settings, contentTypes, (target) =>
      showImport(importDocuments({ ...files, defaultLocale, space, ...target })),
    );
    show();
  } catch (error) {
    const channel = channelOfHolder(error);
    // The server may have another working directory.
    const request = { ...files, files: files.files.map((file) => resolve(file)) };
    (await showImport(callOperator(channel, 'import', request) as AsyncIterable<ImportedLine>))();
  }
}

/**
 * `varve import --dry-run` of documents: validates every line, and shows the rows of the first ten documents as answers have them. Writes
 * nothing to the data directory, and does not read it: lines that refer to its documents are refused.
 */
export async function rehearseFiles(files: DocumentFiles, settings: ImportSettings): Promise<void> {
  const contentTypes = await readContentTypes(settings, pino({ level: 'warn' }, pino.destination(2)));
  const { defaultLocale, space } = settings;
  const { result: show, rows } = await rehearseImport(settings, contentTypes, (target) =>
    showImport(
      importDocuments({ ...target, ...files, defaultLocale, space }),
      'would be imported; nothing was written',
    ),
  );
  for (const row of rows) console.log(row);
  show();
}

/** Shows the progress of an import. Resolves to a function for its end, which throws if lines were refused. */
async function showImport(lines: AsyncIterable<ImportedLine>, outcome = ''): Promise<() => void> {
  const started = performance.now();
  const refused: string[] = [];
  let documents = 0;
  let progress: ImportProgress | undefined;
  try {
    for await (const line of lines) {
      if (line.kind === 'size') progress = showProgress(line.bytes);
      if (line.kind === 'refused') refused.push(`${line.place}: ${line.reason}`);
      if (line.kind === 'progress') {
        progress?.advance(line.bytes);
        documents += line.documents;
      }
    }
  } finally {
    progress?.end();
  }
  return () => {
    console.log(presentRate(documents, 'documents', started) + (outcome && ` ${outcome}`));
    if (refused.length === 0) return;
    const problems = refused.map((problem) => `  ${problem}`).join('\n');
    throw new Error(
      `these lines were refused; correct them and run the command again, imported lines are not written twice\n${problems}`,
    );
  };
}
