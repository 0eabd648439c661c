import { statSync } from 'node:fs';
import { pino } from 'pino';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import { createImporter, type Importer, type ImportOutcome } from '../command/importer.ts';
import { type ContentStore, openContentStore } from '../content-store.ts';
import { type ImportSource, importLines, inBatches } from './import-lines.ts';
import { type ImportProgress, showProgress } from './import-progress.ts';
import { readContentTypes } from './read-content-types.ts';
import type { ImportSettings } from './settings.ts';

/** Appends under way at once: they share commits. */
const BATCH = 512;

/**
 * `varve import`: reads every line twice, first to judge it, then to append its document. With any line refused nothing is
 * written, and every refused line is named. Ids follow from the lines: what is there already is not written again, so an
 * import that was interrupted is simply repeated.
 */
export async function importFiles(files: readonly string[], settings: ImportSettings): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const contentTypes = readContentTypes(settings.contentTypes, pino({ level: 'warn' }, pino.destination(2)));
  const store = await openContentStore({ ...settings, ...contentTypes });
  try {
    const started = performance.now();
    const references = await collectReferences(files);
    const run: ImportRun = { files, store, settings, references };
    await checkLines(run, showProgress('checking ', bytes));
    const documents = await writeLines(run, showProgress('importing', bytes));
    await store.applied(await store.log.lastPosition());
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `${documents} documents in ${seconds.toFixed(1)} s, ${Math.round(documents / seconds)} a second`,
    );
  } finally {
    await store.close();
  }
}

type ImportRun = {
  readonly files: readonly string[];
  readonly store: ContentStore;
  readonly settings: ImportSettings;
  /** `type:key` of every line. */
  readonly references: ReadonlySet<string>;
};

/** References may point forward, so what there will be is known before the first line is judged. */
async function collectReferences(files: readonly string[]): Promise<ReadonlySet<string>> {
  const references = new Set<string>();
  for await (const line of importLines(files)) {
    const json = parse(line);
    if ('problem' in json) continue;
    const { type, key } = (json.value ?? {}) as { type?: unknown; key?: unknown };
    references.add(`${String(type)}:${String(key)}`);
  }
  return references;
}

async function checkLines(run: ImportRun, progress: ImportProgress): Promise<void> {
  const importer = importerOf(run);
  const lines = new Map<string, ImportSource>();
  const problems: string[] = [];
  for await (const line of importLines(run.files)) {
    const outcome = await outcomeOf(importer, line);
    if (outcome.kind === 'refused')
      problems.push(...outcome.reasons.map((reason) => `${place(line)}: ${reason}`));
    else {
      const earlier = lines.get(outcome.stream);
      if (earlier !== undefined) problems.push(`${place(line)}: the document of ${place(earlier)} again`);
      lines.set(outcome.stream, line);
    }
    progress.advance(line.bytes);
  }
  progress.end();
  refuse(problems);
}

/** Number of documents, new ones and those that were there. */
async function writeLines(run: ImportRun, progress: ImportProgress): Promise<number> {
  const importer = importerOf(run);
  const conflicts: string[] = [];
  let documents = 0;
  for await (const batch of inBatches(importLines(run.files), BATCH)) {
    const appends: Promise<void>[] = [];
    for (const line of batch) {
      const outcome = await outcomeOf(importer, line);
      if (outcome.kind === 'refused') throw new Error(`${place(line)} changed while it was imported`);
      appends.push(
        run.store.log.append(outcome.stream, 'none', outcome.events).then((result) => {
          if (result.kind === 'appended') documents++;
          else conflicts.push(`${place(line)}: the document is there and is not as this line made it`);
        }),
      );
    }
    await Promise.all(appends);
    progress.advance(batch.reduce((sum, line) => sum + line.bytes, 0));
  }
  progress.end();
  refuse(conflicts);
  return documents;
}

function importerOf({ store, settings, references }: ImportRun): Importer {
  const typesByName = new Map<string, ContentType>();
  for (const type of store.registry.contentTypes.values()) {
    typesByName.set(type.singularName, type).set(type.uid, type);
  }
  const imported = (reference: string) => {
    const separator = reference.indexOf(':');
    const type = typesByName.get(reference.slice(0, separator))?.uid;
    if (type === undefined) return false;
    return store.graph.exists(type, derivedDocumentId(settings.space, type, reference.slice(separator + 1)));
  };
  return createImporter({
    registry: store.registry,
    graph: store.graph,
    defaultLocale: settings.defaultLocale,
    space: settings.space,
    epoch: 0,
    at: new Date().toISOString(),
    known: (reference) => references.has(reference) || imported(reference),
  });
}

async function outcomeOf(importer: Importer, line: ImportSource): Promise<ImportOutcome> {
  const json = parse(line);
  return 'problem' in json ? { kind: 'refused', reasons: [json.problem] } : importer.importLine(json.value);
}

function parse({ text }: ImportSource): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function place({ file, number }: ImportSource): string {
  return `${file}:${number}`;
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new Error(
    `${problems.length} lines cannot be imported\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
  );
}
