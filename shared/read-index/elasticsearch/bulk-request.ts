import { type Client, errors } from '@elastic/elasticsearch';
import type { IndexableDocument, WriteOutcome } from '../document-index.ts';
import type { ByteSlabs } from './documents/byte-slabs.ts';
import { keepAnsweringNodes } from './wire/client.ts';

/**
 * Milliseconds for a request, far below the hour for which an index remembers deletes. Longer requests are abandoned, so that none arrives
 * after the index has forgotten a later delete.
 */
export const REQUEST_TIMEOUT = 60_000;
/** Milliseconds for a request for which writes wait, if it can be repeated by another node: the node may hang. */
const AWAITED_TIMEOUT = 10_000;

const BULK =
  '/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason';
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

type BulkOptions = { readonly refresh: boolean; readonly signal?: AbortSignal };

/**
 * Sends documents in one request, or in halves if that is too large. Returns an outcome for each, in order. Rejects if Elasticsearch did
 * not carry the request out; some of the documents may be written.
 */
export async function sendBulk(
  client: Client,
  slabs: ByteSlabs,
  documents: readonly IndexableDocument[],
  options: BulkOptions,
): Promise<readonly WriteOutcome[]> {
  const { refresh, signal } = options;
  const { slab, body } = joined(slabs, documents);
  const isRepeatable = refresh && client.connectionPool.size > 1;
  const requestTimeout = isRepeatable ? AWAITED_TIMEOUT : REQUEST_TIMEOUT;
  try {
    const answer = (await client.transport.request(
      { method: 'POST', path: refresh ? `${BULK}&refresh=true` : BULK, body },
      { headers: NDJSON, requestTimeout, maxRetries: 0, ...(signal && { signal }) },
    )) as BulkAnswer;
    // The cluster has read the whole request. After a failure the connection may still use the slab.
    slabs.giveBack(slab);
    return outcomes(documents, answer);
  } catch (error) {
    if (error instanceof errors.TimeoutError) keepAnsweringNodes(client);
    if (!isTooLarge(error)) throw error;
    // A proxy may refuse every request. The writer parks a document only if its index accepts small ones.
    if (documents.length === 1) return [{ kind: 'again', reason: 'the document is too large for a request' }];
    const half = Math.ceil(documents.length / 2);
    const first = await sendBulk(client, slabs, documents.slice(0, half), options);
    return [...first, ...(await sendBulk(client, slabs, documents.slice(half), options))];
  }
}

/** Returns the bytes of the documents, one after the other, at the beginning of a slab. */
function joined(slabs: ByteSlabs, documents: readonly IndexableDocument[]) {
  const slab = slabs.take(documents.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let size = 0;
  for (const { bytes } of documents) {
    slab.set(bytes, size);
    size += bytes.length;
  }
  return { slab, body: slab.subarray(0, size) };
}

/** An operator can open the index again. Elasticsearch answers with 400, as if the document were wrong. */
const CLOSED = 'index_closed_exception';
const WRITTEN: WriteOutcome = Object.freeze({ kind: 'written' });

function outcomes(documents: readonly IndexableDocument[], answer: BulkAnswer): readonly WriteOutcome[] {
  if (answer.items.length !== documents.length) {
    throw new Error(`a bulk of ${documents.length} documents was answered for ${answer.items.length}`);
  }
  if (!answer.errors) return documents.map(() => WRITTEN);
  const found = answer.items.map((item) => outcome(Object.values(item)[0] as BulkItem));
  const [alone, ...others] = documents;
  if (alone === undefined || others.length > 0) return found;
  return found.map((each) =>
    each.kind === 'again' && isTooLargeAlone(alone, each.reason)
      ? { kind: 'refused', reason: each.reason }
      : each,
  );
}

function outcome({ status, error }: BulkItem): WriteOutcome {
  // 409: the index already has a newer state. 404 without an error: there was nothing to delete.
  if (error === undefined || status === 409) return WRITTEN;
  const cause = error.caused_by?.reason === undefined ? '' : ` (${error.caused_by.reason})`;
  const reason = `${error.type}: ${error.reason}${cause}`;
  return { kind: isPassing(status) || error.type === CLOSED ? 'again' : 'refused', reason };
}

/** Bytes that requests use in a node, bytes of the operation that it refuses, and its limit for their sum. */
const MEMORY = /coordinating_and_primary_bytes=(\d+),.*_operation_bytes=(\d+), max_\w+=(\d+)/;
/** A request is slightly larger than its document. */
const ENVELOPE_BYTES = 1_024;

/**
 * Returns whether a node refuses the only document of a request at any time, because its memory for requests is too small. Another attempt
 * would make megabytes again. Refusals without these numbers count as temporary.
 */
function isTooLargeAlone({ bytes }: IndexableDocument, reason: string): boolean {
  const [used, operation, most] = (MEMORY.exec(reason) ?? []).slice(1).map(Number);
  if (used === undefined || operation === undefined || most === undefined) return false;
  const isOnlyRequest = used <= bytes.length + ENVELOPE_BYTES;
  return operation > most || (isOnlyRequest && used + operation > most);
}

/** Returns whether a failure is temporary: the cluster is too busy, a shard does not exist yet, or an index was removed. */
function isPassing(status: number): boolean {
  return status === 429 || status === 404 || status === 403 || status >= 500;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.statusCode === 413;
}
