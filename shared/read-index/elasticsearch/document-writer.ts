import { type Client, errors } from '@elastic/elasticsearch';
import { valueAt } from '../../map-values.ts';
import type { Uid } from '../../schema/content-type.ts';
import type {
  DocumentIndex,
  DocumentRow,
  IndexableDocument,
  Neighbours,
  WriteOutcome,
} from '../document-index.ts';
import type { IndexSet } from '../index-set.ts';
import { WORLDS, type World } from '../read-index.ts';
import {
  type ByteSink,
  createByteSink,
  discardWritten,
  takeWritten,
  writeText,
} from './documents/byte-sink.ts';
import { type ByteSlabs, createByteSlabs } from './documents/byte-slabs.ts';
import { writeDocument } from './documents/create-document.ts';
import { type IndexNames, writeAlias } from './layout/index-names.ts';
import type { Layouts } from './plan/plan-query.ts';

export type DocumentWriterOptions = {
  readonly client: Client;
  readonly names: IndexNames;
  readonly layouts: Layouts;
  readonly types: Iterable<Uid>;
  /** The indices that are written. */
  readonly set: IndexSet;
};

/**
 * Far below the hour for which an index remembers deletes. Longer requests are abandoned, so that no request of ours
 * arrives after a later delete was forgotten.
 */
const REQUEST_TIMEOUT = 60_000;

/** The names are in the address of a request, which has 4 KB. */
const NAMES_AT_ONCE = 24;

const BULK =
  '/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason';

/** Writes documents to a set of indices, each through its own alias. */
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
  const send = async (
    documents: readonly IndexableDocument[],
    options: { readonly refresh: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly WriteOutcome[]> => {
    const { refresh, signal } = options;
    const { slab, body } = joined(slabs, documents);
    try {
      const answer = (await client.transport.request(
        { method: 'POST', path: refresh ? `${BULK}&refresh=true` : BULK, body },
        { headers: NDJSON, requestTimeout: REQUEST_TIMEOUT, maxRetries: 0, ...(signal && { signal }) },
      )) as BulkAnswer;
      // The request was read to its end. After a failure the connection may still use the slab.
      slabs.giveBack(slab);
      return outcomes(documents, answer);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      if (documents.length === 1)
        return [{ kind: 'refused', reason: 'the document is too large for a request' }];
      const half = Math.ceil(documents.length / 2);
      const first = await send(documents.slice(0, half), options);
      return [...first, ...(await send(documents.slice(half), options))];
    }
  };
  return {
    present(row, neighbours) {
      const document = present({ sink, targetOf, layouts }, row, neighbours);
      valueAt(standing, document.bytes.buffer, () => ({ documents: 0 })).documents++;
      return document;
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
        return await send(documents, options);
      } finally {
        // Only now: a refresh in between did not see them.
        if (!options.refresh) for (const { type, world } of documents) unrefreshed.add(targetOf(type, world));
      }
    },
    async refresh() {
      const touched = [...unrefreshed];
      if (touched.length === 0) return;
      unrefreshed.clear();
      try {
        for (let at = 0; at < touched.length; at += NAMES_AT_ONCE) {
          const path = `/${touched.slice(at, at + NAMES_AT_ONCE).join(',')}/_refresh`;
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

/** The documents, one behind the other, at the beginning of a slab. */
function joined(slabs: ByteSlabs, documents: readonly IndexableDocument[]) {
  const slab = slabs.take(documents.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let size = 0;
  for (const { bytes } of documents) {
    slab.set(bytes, size);
    size += bytes.length;
  }
  return { slab, body: slab.subarray(0, size) };
}

/** Index through which documents of a type and world are written. */
type TargetOf = (type: Uid, world: World) => string;

const NDJSON = { 'content-type': 'application/x-ndjson', accept: 'application/json' };

type BulkItem = {
  readonly status: number;
  readonly error?: {
    readonly type: string;
    readonly reason: string;
    readonly caused_by?: { readonly reason?: string };
  };
};
type BulkAnswer = {
  readonly errors: boolean;
  readonly items: readonly { readonly [action: string]: BulkItem }[];
};

/** Where documents are written: bytes of a request, and the index and layout of each type. */
type Destination = { readonly sink: ByteSink; readonly targetOf: TargetOf; readonly layouts: Layouts };

function present(
  { sink, targetOf, layouts }: Destination,
  { type, world, key, position }: DocumentRow,
  neighbours: Neighbours,
): IndexableDocument {
  // Discards the half-made document.
  discardWritten(sink);
  const row = neighbours.row(type, key);
  // Elasticsearch refuses an older state with 409 and accepts the same one twice.
  const meta = `{"_index":"${targetOf(type, world)}","_id":"${key}","version":${position},"version_type":"external_gte"}`;
  if (row === undefined) writeText(sink, `{"delete":${meta}}\n`);
  else {
    writeText(sink, `{"index":${meta}}\n`);
    writeDocument(sink, layouts(type), { key, row }, neighbours);
    writeText(sink, '\n');
  }
  return { type, world, key, position, bytes: takeWritten(sink) };
}

const WRITTEN: WriteOutcome = Object.freeze({ kind: 'written' });

function outcomes(documents: readonly IndexableDocument[], answer: BulkAnswer): readonly WriteOutcome[] {
  if (answer.items.length !== documents.length) {
    throw new Error(`a bulk of ${documents.length} documents was answered for ${answer.items.length}`);
  }
  return answer.errors
    ? answer.items.map((item) => outcome(Object.values(item)[0] as BulkItem))
    : documents.map(() => WRITTEN);
}

function outcome({ status, error }: BulkItem): WriteOutcome {
  // 409: a newer state is there already. 404 without an error: there was nothing to delete.
  if (error === undefined || status === 409) return WRITTEN;
  const cause = error.caused_by?.reason === undefined ? '' : ` (${error.caused_by.reason})`;
  const reason = `${error.type}: ${error.reason}${cause}`;
  return { kind: isPassing(status) ? 'again' : 'refused', reason };
}

/** Too busy, a shard that does not exist yet, or an index that was removed. */
function isPassing(status: number): boolean {
  return status === 429 || status === 404 || status === 403 || status >= 500;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.statusCode === 413;
}
