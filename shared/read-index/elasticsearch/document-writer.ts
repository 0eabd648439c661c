import type { Client } from '@elastic/elasticsearch';
import { valueAt } from '../../map-values.ts';
import type { Uid } from '../../schema/content-type.ts';
import type { DocumentIndex, DocumentRow, IndexableDocument, Neighbours } from '../document-index.ts';
import type { IndexSet } from '../index-set.ts';
import { WORLDS, type World } from '../read-index.ts';
import { REQUEST_TIMEOUT, sendBulk } from './bulk-request.ts';
import {
  type ByteSink,
  createByteSink,
  discardWritten,
  takeWritten,
  writeText,
} from './documents/byte-sink.ts';
import { createByteSlabs } from './documents/byte-slabs.ts';
import { writeDocument } from './documents/create-document.ts';
import { namesAtOnce } from './indices/names-at-once.ts';
import { type IndexNames, writeAlias } from './layout/index-names.ts';
import type { Layouts } from './plan/plan-query.ts';

export type DocumentWriterOptions = {
  readonly client: Client;
  readonly names: IndexNames;
  readonly layouts: Layouts;
  readonly types: Iterable<Uid>;
  /** Index set to write. */
  readonly set: IndexSet;
};

/** Aliases named in one request. They are shorter than names of indices. */
const ALIASES_AT_ONCE = 24;

/** Creates a writer of documents to a set of indices. It writes to each index through the index's own alias. */
export function createDocumentWriter(options: DocumentWriterOptions): DocumentIndex {
  const { client, names, layouts, types, set } = options;
  const targets = { draft: new Map<Uid, string>(), published: new Map<Uid, string>() };
  const targetOf: TargetOf = (type, world) =>
    valueAt(targets[world], type, () => {
      const alias = names.alias(type, world);
      return writeAlias(set[alias] ?? alias);
    });
  /** Indices written since their last refresh. At first all, because a previous process may have written them. */
  const unrefreshed = new Set<string>();
  for (const type of types) {
    for (const world of WORLDS) unrefreshed.add(targetOf(type, world));
  }
  const slabs = createByteSlabs();
  const sink = createByteSink(slabs.take);
  /** Number of unreleased documents in a slab. */
  const standing = new WeakMap<ArrayBufferLike, { documents: number }>();
  return {
    present(row, neighbours) {
      const document = present({ sink, targetOf, layouts }, row, neighbours);
      valueAt(standing, document.bytes.buffer, () => ({ documents: 0 })).documents++;
      return document;
    },
    async accepts({ type, world }, signal) {
      const bytes = Buffer.from(`{"update":{"_index":"${targetOf(type, world)}","_id":"0"}}\n{"doc":{}}\n`);
      const document = { ...NO_ROW, type, world, bytes };
      try {
        const [outcome] = await sendBulk(client, slabs, [document], { refresh: false, signal });
        return outcome?.kind === 'again' && outcome.reason.startsWith(MISSING);
      } catch {
        return false;
      }
    },
    release(documents) {
      for (const { bytes } of documents) {
        const left = standing.get(bytes.buffer);
        if (left === undefined || --left.documents > 0 || bytes.buffer === sink.bytes.buffer) continue;
        slabs.giveBack(Buffer.from(bytes.buffer));
      }
    },
    async write(documents, options) {
      try {
        return await sendBulk(client, slabs, documents, options);
      } finally {
        // This comes last, because a refresh during the request did not make the documents visible.
        if (!options.refresh) for (const { type, world } of documents) unrefreshed.add(targetOf(type, world));
      }
    },
    async refresh(only) {
      const target = only && targetOf(only.type, only.world);
      const touched = [...unrefreshed].filter((alias) => target === undefined || alias === target);
      if (touched.length === 0) return;
      for (const alias of touched) unrefreshed.delete(alias);
      try {
        for (const aliases of namesAtOnce(touched, ALIASES_AT_ONCE)) {
          const path = `/${aliases.join(',')}/_refresh`;
          const options = { requestTimeout: REQUEST_TIMEOUT, maxRetries: 0 };
          await client.transport.request({ method: 'POST', path }, options);
        }
      } catch (error) {
        for (const alias of touched) unrefreshed.add(alias);
        throw error;
      }
    },
  };
}

/** Returns the alias through which documents of a type and world are written. */
type TargetOf = (type: Uid, world: World) => string;

/** Target of documents: the bytes of a request, and the index and layout of each type. */
type Destination = { readonly sink: ByteSink; readonly targetOf: TargetOf; readonly layouts: Layouts };

const MISSING = 'document_missing_exception';
/**
 * Row that never exists: keys begin at 4. The answer to its update shows whether an index accepts documents. A deletion would make a
 * missing index, whose name would be that of the write alias.
 */
const NO_ROW = Object.freeze({ key: 0, position: 1n });

/** Returns the part of a request that names a document. Elasticsearch refuses an older state with 409 and accepts the same state twice. */
function metaOf(targetOf: TargetOf, { type, world, key, position }: DocumentRow): string {
  return `{"_index":"${targetOf(type, world)}","_id":"${key}","version":${position},"version_type":"external_gte"}`;
}

function present(
  { sink, targetOf, layouts }: Destination,
  { type, world, key, position }: DocumentRow,
  neighbours: Neighbours,
): IndexableDocument {
  // Discards a document that was written only in part.
  discardWritten(sink);
  const row = neighbours.row(type, key);
  const meta = metaOf(targetOf, { type, world, key, position });
  if (row === undefined) writeText(sink, `{"delete":${meta}}\n`);
  else {
    writeText(sink, `{"index":${meta}}\n`);
    writeDocument(sink, layouts(type), { key, row }, neighbours);
    writeText(sink, '\n');
  }
  return { type, world, key, position, bytes: takeWritten(sink) };
}
