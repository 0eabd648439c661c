import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@elastic/elasticsearch';

/** Bytes of a segment that a merge makes at most. Elasticsearch itself merges no larger ones. */
const SEGMENT_BYTES = 4 * 2 ** 30;

/**
 * Milliseconds within which Elasticsearch notices that no copy of a shard needs the operations of a filling. It looks every 30 s. Until then a
 * merge keeps the JSON of each document, which is more than half of an index.
 */
const RELEASED_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 1_000;

/** Milliseconds that one merge may take. A longer one continues in the cluster. */
const MERGE_TIMEOUT_MS = 600_000;
const OPTIONS = { requestTimeout: 30_000, maxRetries: 0 };

type Shard = {
  readonly seq_no?: { readonly max_seq_no: number };
  readonly retention_leases?: { readonly leases?: readonly { readonly retaining_seq_no: number }[] };
  readonly store?: { readonly size_in_bytes: number };
};
type StatsAnswer = {
  readonly indices?: {
    readonly [index: string]: { readonly shards?: Readonly<Record<string, readonly Shard[]>> };
  };
};

/**
 * Merges the segments of filled indices into as few as possible, one index after the other. The JSON that Elasticsearch keeps for the recovery
 * of copies goes with that. Searches find the same documents before and after. Resolves early if `signal` is aborted.
 */
export async function mergeSegments(
  client: Client,
  indices: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const index of indices) {
    // An operation counts as kept only after it is on disk.
    await client.indices.flush({ index }, { ...OPTIONS, signal });
  }
  for (const index of indices) {
    const bytes = await awaitReleased(client, index, signal);
    if (signal.aborted) return;
    const max_num_segments = Math.max(1, Math.ceil(bytes / SEGMENT_BYTES));
    const options = { requestTimeout: MERGE_TIMEOUT_MS, maxRetries: 0, signal };
    await client.indices.forcemerge({ index, max_num_segments }, options);
  }
}

/** Waits until a merge of an index can drop the JSON of the operations so far. Resolves with the bytes of its largest shard. */
async function awaitReleased(client: Client, index: string, signal: AbortSignal): Promise<number> {
  const fields = ['seq_no.max_seq_no', 'retention_leases', 'store.size_in_bytes'];
  const filter = fields.map((field) => `indices.*.shards.*.${field}`).join();
  const path = `/${index}/_stats/store?level=shards&filter_path=${filter}`;
  for (let left = RELEASED_WITHIN_MS; ; left -= LOOK_EVERY_MS) {
    const answer = await client.transport.request<StatsAnswer>(
      { method: 'GET', path },
      { ...OPTIONS, signal },
    );
    const shards = Object.values(answer.indices ?? {}).flatMap((found) =>
      Object.values(found.shards ?? {}).flat(),
    );
    if (shards.every(isReleased) || left <= 0 || signal.aborted)
      return Math.max(0, ...shards.map(({ store }) => store?.size_in_bytes ?? 0));
    await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Returns whether no copy of a shard may still ask for its operations. */
function isReleased({ seq_no, retention_leases }: Shard): boolean {
  const last = seq_no?.max_seq_no ?? -1;
  return (retention_leases?.leases ?? []).every(({ retaining_seq_no }) => retaining_seq_no > last);
}
