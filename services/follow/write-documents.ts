import { hash } from 'node:crypto';
import type { DocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName, RecordedRows } from '../../shared/document/recorded-rows.ts';
import { nestsDeeper } from '../../shared/json-depth.ts';
import { FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ImportNotes } from '../strapi/import-notes.ts';
import type { FollowWriter } from './follow-writer.ts';
import { followedEvents } from './followed-events.ts';
import { type Closure, documentKey, readClosure, type SourceDocument } from './read-closure.ts';
import type { Source, SourceRow } from './source.ts';
import type { GraphDocument } from './stored-document.ts';

export type WriteDocumentsOptions = {
  readonly registry: SchemaRegistry;
  readonly source: Source;
  readonly entries: (type: Uid, documentId: string) => GraphDocument['entries'];
  readonly recorded: RecordedRows;
  readonly writer: FollowWriter;
  /** Stores the contents of a file before its row is written. */
  readonly takeFile: (row: SourceRow) => Promise<void>;
  readonly dropFile: (entry: GraphDocument['entries'][number]) => Promise<void>;
  readonly notes: ImportNotes;
};

export type DocumentWriter = ReturnType<typeof createDocumentCopier>;

/** Most levels of JSON in a row of the source. */
const MOST_LEVELS = 1_000;
const TOO_DEEP = 'too deep';
const READS = 4;
const AT_ONCE = 32;

/** Creates the copier, which writes the differences between documents of the source and the stored ones. */
export function createDocumentCopier(options: WriteDocumentsOptions) {
  const { registry, recorded, source } = options;
  const stuck = new Map<string, string>();
  const stored = ({ type, documentId }: DocumentName): GraphDocument => ({
    entries: options.entries(type, documentId),
    links: recorded.links(type, documentId),
  });
  const eventsOf = (closure: Closure, document: SourceDocument): readonly DocumentEvent[] => {
    const type = contentTypeOf(registry, document.type);
    const { slotOf, hasRow } = closure;
    const desired = { registry, type, stored: stored(document), slotOf, hasRow, notes: options.notes };
    return followedEvents(desired, document.rows);
  };
  const write = async (closure: Closure, document: SourceDocument): Promise<number> => {
    const key = documentKey(document);
    const digest = hash('sha256', JSON.stringify(document.rows.map(({ data }) => data)));
    if (eventsOf(closure, document).length === 0) {
      stuck.delete(key);
      return 0;
    }
    if (stuck.get(key) === digest) return 0;
    const before = document.type === FILE_TYPE ? stored(document).entries : [];
    if (document.type === FILE_TYPE) for (const row of document.rows) await options.takeFile(row);
    let events = 0;
    await options.writer.write(document, () => {
      const decided = eventsOf(closure, document);
      events = decided.length;
      return decided;
    });
    if (document.rows.length === 0) for (const entry of before) await options.dropFile(entry);
    // A stuck document is not written again until the source changes it: each attempt appends events.
    if (eventsOf(closure, document).length > 0) stuck.set(key, digest);
    else stuck.delete(key);
    return events;
  };
  /** Code that recurses over a value of very many levels would exhaust the stack, here and in each later start. */
  const isStorable = (document: SourceDocument): boolean => {
    const isDeep = document.rows.some(({ data }) => nestsDeeper(data, MOST_LEVELS));
    if (isDeep) stuck.set(documentKey(document), TOO_DEEP);
    return !isDeep;
  };
  return {
    /** Returns the documents that still differ from the source after they were written. */
    stuck: (): readonly string[] => [...stuck.keys()],
    /** Makes documents and their changed neighbours equal to the source's. Resolves with the number of appended events. */
    async write(names: readonly DocumentName[]): Promise<number> {
      const closure = await readConsistently({ registry, source, stored, owners: recorded.owners }, names);
      const asked = new Set(names.map(documentKey));
      const { others = [], origins = [] } = Object.groupBy(closure.documents, (document) =>
        asked.has(documentKey(document)) ? 'origins' : 'others',
      );
      let written = 0;
      for (const documents of [others, origins]) {
        for (let at = 0; at < documents.length; at += AT_ONCE) {
          const batch = documents.slice(at, at + AT_ONCE);
          const storable = batch.filter(isStorable);
          for (const one of await Promise.all(storable.map((document) => write(closure, document))))
            written += one;
        }
      }
      return written;
    },
  };
}

/** Reads documents, again if an editor changes them meanwhile. After some attempts it accepts the last answer. */
async function readConsistently(
  options: Parameters<typeof readClosure>[0],
  names: readonly DocumentName[],
): Promise<Closure> {
  for (let reads = 1; ; reads++) {
    const closure = await readClosure(options, names);
    if (closure.isConsistent || reads >= READS) return closure;
  }
}
