import { statSync } from 'node:fs';
import { pino } from 'pino';
import { catchUp } from '../../projections/projector.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import { createImporter, type Importer, type ImportOutcome } from '../command/importer.ts';
import { type ContentStore, openContentStore } from '../content-store.ts';
import { createPresence } from '../fleet/presence.ts';
import { listen } from '../http/listen.ts';
import { type ImportSource, importLines, inBatches } from './import-lines.ts';
import { type ImportProgress, showProgress } from './import-progress.ts';
import { leadForImport } from './lead-for-import.ts';
import { readContentTypes } from './read-content-types.ts';
import type { ImportSettings } from './settings.ts';

/** Appends under way at once: they share commits. */
const BATCH = 512;

/**
 * `varve import`: appends the document of every line, and names every line that it refuses. Ids follow from the lines: what is
 * there already is not written again, so an import that was interrupted, or had lines to be corrected, is simply repeated.
 */
export async function importFiles(files: readonly string[], settings: ImportSettings): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const contentTypes = readContentTypes(
    settings.contentTypes,
    pino({ level: 'warn' }, pino.destination(2)),
    settings.defaultLocale,
  );
  const store = await openContentStore({ ...settings, ...contentTypes });
  const presence = createPresence();
  // Whoever starts meanwhile sees that the lead is taken.
  const listener = await listen({ host: '127.0.0.1', port: 0, first: presence.answer });
  try {
    const lead = await leadForImport({
      ...{ store, space: settings.space, definitions: contentTypes.definitions },
      ...{ owner: presence.owner, address: listener.url },
    });
    const started = performance.now();
    const references = await collectReferences(files);
    const result = await importAll(
      { files, store, settings, references, epoch: lead.epoch },
      showProgress(bytes),
    );
    await catchUp(store.log, store.graph);
    await lead.giveBack();
    report(result, (performance.now() - started) / 1000);
  } finally {
    await listener.drain(0);
    await store.close();
  }
}

type ImportRun = {
  /** Of the lease that the import holds. */
  readonly epoch: number;
  readonly files: readonly string[];
  readonly store: ContentStore;
  readonly settings: ImportSettings;
  /** `type:key` of every line. */
  readonly references: ReadonlySet<string>;
};

type ImportResult = { documents: number; readonly refused: string[] };

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

async function importAll(run: ImportRun, progress: ImportProgress): Promise<ImportResult> {
  const importer = importerOf(run);
  const result: ImportResult = { documents: 0, refused: [] };
  for await (const batch of inBatches(importLines(run.files), BATCH)) {
    const appends: Promise<void>[] = [];
    for (const line of batch) {
      const outcome = await outcomeOf(importer, line);
      if (outcome.kind === 'document') appends.push(append(run.store, line, outcome, result));
      else result.refused.push(...outcome.reasons.map((reason) => `${place(line)}: ${reason}`));
    }
    await Promise.all(appends);
    progress.advance(batch.reduce((sum, line) => sum + line.bytes, 0));
  }
  progress.end();
  return result;
}

async function append(
  { log }: ContentStore,
  line: ImportSource,
  { stream, events }: ImportOutcome & { readonly kind: 'document' },
  result: ImportResult,
): Promise<void> {
  const { kind } = await log.append(stream, 'none', events);
  if (kind === 'appended') result.documents++;
  else result.refused.push(`${place(line)}: the document exists and is not as this line has it`);
}

function report({ documents, refused }: ImportResult, seconds: number): void {
  const rate = Math.round(documents / seconds);
  console.log(`${documents} documents in ${seconds.toFixed(1)} s, ${rate} a second`);
  if (refused.length === 0) return;
  const lines = refused.map((problem) => `  ${problem}`).join('\n');
  throw new Error(
    `these lines were refused; correct them and run again, what is imported is not written twice\n${lines}`,
  );
}

function importerOf({ store, settings, references, epoch }: ImportRun): Importer {
  const typesByName = new Map<string, ContentType>();
  for (const type of store.registry.contentTypes.values()) {
    typesByName.set(type.singularName, type).set(type.uid, type);
  }
  const imported = (reference: string) => {
    const separator = reference.indexOf(':');
    const type = typesByName.get(reference.slice(0, separator))?.uid;
    if (type === undefined) return false;
    return store.graph.reader.exists(
      type,
      derivedDocumentId(settings.space, type, reference.slice(separator + 1)),
    );
  };
  return createImporter({
    registry: store.registry,
    graph: store.graph.reader,
    defaultLocale: settings.defaultLocale,
    space: settings.space,
    epoch,
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
