import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { valueOfJson } from '../../shared/json.ts';
import { parseShallowJson } from '../../shared/json-depth.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import {
  createImporter,
  type ImportEnvironment,
  type Importer,
  type ImportOutcome,
} from '../command/importer.ts';
import { csvLines, isCsv } from './csv-lines.ts';
import { type ImportSource, importLines, inBatches } from './import-lines.ts';

/** Document that a line of the import describes. */
export type ImportedDocument = ImportOutcome & { readonly kind: 'document' };

/** Writes a document; returns the reasons if it was not written. */
export type WriteDocument = (document: ImportedDocument) => Promise<readonly string[]>;

export type DocumentImport = Omit<ImportEnvironment, 'at' | 'known'> & {
  readonly files: readonly string[];
  /** Singular name or uid of the content type of CSV files. */
  readonly type?: string | undefined;
  readonly write: WriteDocument;
  readonly signal?: AbortSignal | undefined;
};

/** Progress report of an import. */
export type ImportedLine =
  | { readonly kind: 'size'; readonly bytes: number }
  | { readonly kind: 'progress'; readonly bytes: number; readonly documents: number }
  | { readonly kind: 'refused'; readonly place: string; readonly reason: string };

/** Lines of a batch. Its appends are in flight at once, so they share commits. */
const BATCH = 512;

/**
 * Validates each line and writes its document; reports refused lines and continues. Each batch is validated while the one before it is
 * stored.
 */
export async function* importDocuments(options: DocumentImport): AsyncGenerator<ImportedLine> {
  const { files, signal } = options;
  yield { kind: 'size', bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
  const importer = importerOf(options, await collectReferences(options));
  let stored: Promise<readonly ImportedLine[]> = Promise.resolve([]);
  for await (const batch of inBatches(sourcesOf(options), BATCH)) {
    signal?.throwIfAborted();
    const writes = await beginWrites(options, importer, batch);
    yield* await stored;
    stored = reportsOf(batch, writes);
    // A failure is thrown when it is awaited.
    stored.catch(() => {});
  }
  yield* await stored;
}

/** Reasons why the document of a line was not written. */
type Reasons = readonly string[] | Promise<readonly string[]>;

/** Lines that are validated in one turn of the event loop. Between turns answers to appends arrive, and the next ones go out. */
const LINES_OF_TURN = 64;

/** Validates the lines of a batch and begins to write their documents. */
async function beginWrites(
  { write }: DocumentImport,
  importer: Importer,
  batch: readonly ImportSource[],
): Promise<readonly Reasons[]> {
  const writes: Reasons[] = [];
  for (const [n, line] of batch.entries()) {
    if (n % LINES_OF_TURN === 0) await nextTurn();
    const outcome = await outcomeOf(importer, line);
    const reasons = outcome.kind === 'refused' ? outcome.reasons : write(outcome);
    // A write may fail before it is awaited.
    if (reasons instanceof Promise) reasons.catch(() => {});
    writes.push(reasons);
  }
  return writes;
}

async function reportsOf(
  batch: readonly ImportSource[],
  writes: readonly Reasons[],
): Promise<readonly ImportedLine[]> {
  const reasons = await Promise.all(writes);
  const refused = batch.flatMap(({ file, number }, n) =>
    (reasons[n] ?? []).map((reason) => ({ kind: 'refused' as const, place: `${file}:${number}`, reason })),
  );
  const documents = reasons.filter(({ length }) => length === 0).length;
  return [
    ...refused,
    { kind: 'progress', bytes: batch.reduce((sum, { bytes }) => sum + bytes, 0), documents },
  ];
}

/** Reads the lines of all files, one file after the other. Throws a message for a file that has none. */
async function* sourcesOf({ files, type, registry }: DocumentImport): AsyncGenerator<ImportSource> {
  const definition = registry.contentTypes.get(uidsByName(registry).get(type ?? '') ?? '');
  if (type !== undefined && definition === undefined) throw new Error(`unknown content type ${type}`);
  for (const file of files) {
    if (definition !== undefined && isCsv(file)) yield* csvLines(file, definition);
    else yield* importLines(file);
  }
}

/** The documentId in each line, by `<uid>:<key>`; null if it follows from the key. */
type References = ReadonlyMap<string, string | null>;

/** References may point forward, so all lines are read before the first is validated. */
async function collectReferences(options: DocumentImport): Promise<References> {
  const references = new Map<string, string | null>();
  const uids = uidsByName(options.registry);
  for await (const line of sourcesOf(options)) {
    const text = 'text' in line ? line.text : '';
    const { type, key, documentId } = (valueOfJson(text) ?? {}) as Record<string, unknown>;
    const uid = typeof type === 'string' ? uids.get(type) : undefined;
    if (uid === undefined || typeof key !== 'string') continue;
    references.set(`${uid}:${key}`, typeof documentId === 'string' ? documentId : null);
  }
  return references;
}

function uidsByName({ contentTypes }: SchemaRegistry): ReadonlyMap<string, Uid> {
  const uids = new Map<string, Uid>();
  for (const { uid, singularName } of contentTypes.values()) uids.set(singularName, uid).set(uid, uid);
  return uids;
}

function importerOf(options: DocumentImport, references: References): Importer {
  const { graph, space } = options;
  return createImporter({
    ...options,
    at: new Date().toISOString(),
    known(type, key) {
      const documentId = references.get(`${type}:${key}`);
      if (documentId !== undefined) return documentId === null ? {} : { documentId };
      return graph.exists(type, derivedDocumentId(space, type, key)) ? {} : undefined;
    },
  });
}

async function outcomeOf(importer: Importer, line: ImportSource): Promise<ImportOutcome> {
  if ('reasons' in line) return { kind: 'refused', reasons: line.reasons };
  let json: unknown;
  try {
    json = parseShallowJson(line.text);
  } catch (error) {
    return { kind: 'refused', reasons: [(error as Error).message] };
  }
  return importer.importLine(json);
}
