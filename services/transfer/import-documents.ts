import { statSync } from 'node:fs';
import { valueOfJson } from '../../shared/json.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import {
  createImporter,
  type ImportEnvironment,
  type Importer,
  type ImportOutcome,
} from '../command/importer.ts';
import { type ImportSource, importLines, inBatches } from './import-lines.ts';

/** Document that a line of the import describes. */
export type ImportedDocument = ImportOutcome & { readonly kind: 'document' };

/** Writes a document; returns the reasons if it was not written. */
export type WriteDocument = (document: ImportedDocument) => Promise<readonly string[]>;

export type DocumentImport = Omit<ImportEnvironment, 'at' | 'known'> & {
  readonly files: readonly string[];
  readonly write: WriteDocument;
  readonly signal?: AbortSignal | undefined;
};

/** Progress report of an import. */
export type ImportedLine =
  | { readonly kind: 'size'; readonly bytes: number }
  | { readonly kind: 'progress'; readonly bytes: number; readonly documents: number }
  | { readonly kind: 'refused'; readonly place: string; readonly reason: string };

/** Appends in flight at once: they share commits. */
const BATCH = 512;

/** Validates each line and writes its document; reports refused lines and continues. */
export async function* importDocuments(options: DocumentImport): AsyncGenerator<ImportedLine> {
  const { files, write, signal } = options;
  yield { kind: 'size', bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
  const importer = importerOf(options, await collectReferences(options));
  for await (const batch of inBatches(importLines(files), BATCH)) {
    signal?.throwIfAborted();
    const writes: (readonly ImportedLine[] | Promise<readonly ImportedLine[]>)[] = [];
    let documents = 0;
    for (const line of batch) {
      const outcome = await outcomeOf(importer, line);
      const refuse = (reasons: readonly string[]): readonly ImportedLine[] =>
        reasons.map((reason) => ({ kind: 'refused', place: `${line.file}:${line.number}`, reason }));
      const written = async (document: ImportedDocument) => {
        const reasons = await write(document);
        if (reasons.length === 0) documents++;
        return refuse(reasons);
      };
      if (outcome.kind === 'refused') writes.push(refuse(outcome.reasons));
      else {
        const writing = written(outcome);
        // The write may fail before it is awaited, while the next line is validated.
        writing.catch(() => {});
        writes.push(writing);
      }
    }
    for (const refused of await Promise.all(writes)) yield* refused;
    yield { kind: 'progress', bytes: batch.reduce((sum, line) => sum + line.bytes, 0), documents };
  }
}

/** The documentId in each line, by `<uid>:<key>`; null if it follows from the key. */
type References = ReadonlyMap<string, string | null>;

/** References may point forward, so all lines are read before the first is validated. */
async function collectReferences({ files, registry }: DocumentImport): Promise<References> {
  const references = new Map<string, string | null>();
  const uids = uidsByName(registry);
  for await (const line of importLines(files)) {
    const { type, key, documentId } = (valueOfJson(line.text) ?? {}) as Record<string, unknown>;
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

async function outcomeOf(importer: Importer, { text }: ImportSource): Promise<ImportOutcome> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { kind: 'refused', reasons: [(error as Error).message] };
  }
  return importer.importLine(json);
}
