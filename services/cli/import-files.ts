import { resolve } from 'node:path';
import { pino } from 'pino';
import { catchUp } from '../../projections/projector.ts';
import { DataDirectoryInUse } from '../../shared/sqlite/lock-data-directory.ts';
import { openAccessKey } from '../access/access-key.ts';
import { EXISTS_OTHERWISE } from '../command/import-writer.ts';
import { openContentStore } from '../content-store.ts';
import { openMembership } from '../fleet/membership.ts';
import { createPresence } from '../fleet/presence.ts';
import { listen } from '../http/listen.ts';
import { logFolder } from '../open-event-store.ts';
import { callOperator } from '../operator/call-operator.ts';
import { type ImportLine, importDocuments, type WriteDocument } from '../transfer/import-documents.ts';
import { type ImportProgress, showProgress } from './import-progress.ts';
import { LEAD_LOST, leadForImport } from './lead-for-import.ts';
import { type ReadContentTypes, readContentTypes } from './read-content-types.ts';
import { sayReplaced } from './say-replaced.ts';
import type { ImportSettings } from './settings.ts';

/**
 * `varve import`: appends the document of every line, and names every line that it refuses. Ids follow from the lines: what is
 * there already is not written again, so an import that was interrupted, or had lines to be corrected, is simply repeated. The
 * server that holds the data directory does it, beside its requests; where there is none, this process.
 */
export async function importFiles(files: readonly string[], settings: ImportSettings): Promise<void> {
  const contentTypes = await readContentTypes(settings, pino({ level: 'warn' }, pino.destination(2)));
  try {
    await importHere(files, settings, contentTypes);
  } catch (error) {
    const channel = error instanceof DataDirectoryInUse ? error.holder?.channel : undefined;
    if (channel === undefined) throw error;
    // The server has another working directory.
    const request = { files: files.map((file) => resolve(file)) };
    await showImport(callOperator(channel, 'import', request) as AsyncIterable<ImportLine>);
  }
}

/** In a data directory of this process. Throws DataDirectoryInUse when it is another's. */
async function importHere(
  files: readonly string[],
  settings: ImportSettings,
  contentTypes: ReadContentTypes,
): Promise<void> {
  const store = await openContentStore({ ...settings, ...contentTypes, reportReplaced: sayReplaced });
  const presence = createPresence();
  // Whoever starts meanwhile sees that the lead is taken.
  const listener = await listen({ host: '127.0.0.1', port: 0, first: presence.answer });
  const { defaultLocale, space } = settings;
  try {
    const { log } = store;
    const key = await openAccessKey({ log, space, folder: logFolder(settings), given: settings.accessKey });
    const membership = openMembership({ log, space, owner: presence.owner, key });
    presence.join(membership);
    const lead = await leadForImport({
      ...{ store, space, definitions: contentTypes.definitions },
      ...{ membership, address: listener.url },
    });
    const write: WriteDocument = async ({ stream, events }) => {
      const { kind } = await store.log.append(stream, 'none', events, lead.fence);
      if (kind === 'fenced') throw new Error(LEAD_LOST);
      return kind === 'appended' ? [] : [EXISTS_OTHERWISE];
    };
    const { registry, graph } = store;
    const options = { files, registry, defaultLocale, space, write, epoch: lead.epoch };
    await showImport(importDocuments({ ...options, graph: graph.reader }), async () => {
      await catchUp(log, graph);
      await lead.giveBack();
    });
  } finally {
    await listener.drain(0);
    await store.close();
  }
}

/** Shows what an import says. Throws at its end, after `finish`, when lines were refused. */
async function showImport(
  lines: AsyncIterable<ImportLine>,
  finish: () => Promise<void> = async () => {},
): Promise<void> {
  const started = performance.now();
  const refused: string[] = [];
  let documents = 0;
  let progress: ImportProgress | undefined;
  for await (const line of lines) {
    if (line.kind === 'size') progress = showProgress(line.bytes);
    if (line.kind === 'refused') refused.push(`${line.place}: ${line.reason}`);
    if (line.kind === 'progress') {
      progress?.advance(line.bytes);
      documents += line.documents;
    }
  }
  progress?.end();
  await finish();
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${documents} documents in ${seconds.toFixed(1)} s, ${Math.round(documents / seconds)} a second`,
  );
  if (refused.length === 0) return;
  const problems = refused.map((problem) => `  ${problem}`).join('\n');
  throw new Error(
    `these lines were refused; correct them and run again, what is imported is not written twice\n${problems}`,
  );
}
