import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { openEventStore } from '../../services/stores/open-event-store.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';

/** Facts about a log. They are read by a second implementation of the fence. */
export type LogFacts = {
  /** Number of times that events in force wrote a value, by `<key> <number>`. */
  readonly edits: ReadonlyMap<string, number>;
  /** Number of times that a document was created by events in force, by key. */
  readonly created: ReadonlyMap<string, number>;
  /** Number of deletions in force, by documentId. */
  readonly deletions: ReadonlyMap<string, number>;
  readonly claims: number;
  /** Position of the last event. */
  readonly last: bigint;
  /** Number of document events that are not in force: those of a former leader. */
  readonly fenced: number;
};

/**
 * Reads the facts of a log. The fence is implemented here a second time: after a claim, events of older epochs are not
 * in force.
 */
export async function readLogFacts(eventStore: string, space = 'varve'): Promise<LogFacts> {
  const facts = {
    edits: new Map<string, number>(),
    created: new Map<string, number>(),
    deletions: new Map<string, number>(),
    claims: 0,
    last: 0n,
    fenced: 0,
  };
  let epoch = 0;
  await withLog({ eventStore, space }, async (log) => {
    for await (const events of log.readAll(0n)) {
      for (const event of events) {
        if (event.type === 'leader-elected') epoch = (event.data as { readonly epoch: number }).epoch;
        note(facts, event, epoch);
      }
    }
  });
  return facts;
}

type Counts = Map<string, number>;
type Notes = {
  readonly edits: Counts;
  readonly created: Counts;
  readonly deletions: Counts;
  claims: number;
  last: bigint;
  fenced: number;
};

const NOTED = new Set(['entry-created', 'entry-changed', 'entry-deleted']);

function note(facts: Notes, { type, data, metadata, position }: StoredEvent, epoch: number): void {
  facts.last = position;
  if (type === 'leader-elected') facts.claims++;
  if (!NOTED.has(type)) return;
  if (metadata.epoch < epoch) {
    facts.fenced++;
    return;
  }
  if (type === 'entry-deleted') {
    count(facts.deletions, (data as { readonly documentId: string }).documentId);
    return;
  }
  const { values } = data as { readonly values: { readonly key?: string; readonly name?: string } };
  count(facts.edits, values.name);
  if (type === 'entry-created') count(facts.created, values.key);
}

function count(counts: Counts, name: string | undefined): void {
  if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Returns every row and link of the graph in a data directory whose process has ended. */
export function readGraph(data: string): readonly string[] {
  const graph = openContentGraph(join(data, 'graph.db'));
  try {
    return graphLines(graph);
  } finally {
    graph.close();
  }
}

/** Returns the same lines for a graph that is rebuilt from the log. */
export async function rebuildGraph(eventStore: string, space = 'varve'): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-rebuilt-'));
  const graph = openContentGraph(join(folder, 'graph.db'));
  try {
    await withLog({ eventStore, space }, async (log) => {
      for await (const events of log.readAll(0n, { batchSize: 1_000 })) graph.replay(events);
    });
    return graphLines(graph);
  } finally {
    graph.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function graphLines(graph: ReturnType<typeof openContentGraph>): readonly string[] {
  const lines: string[] = [];
  for (const { rows, links } of graph.readAll()) {
    for (const row of rows) lines.push(JSON.stringify(row, textOfBytes));
    for (const link of links) lines.push(JSON.stringify(link));
  }
  return lines.sort();
}

function textOfBytes(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return typeof value === 'bigint' ? String(value) : value;
}

/** Opens a log, and closes it after `use`. */
export async function withLog<Result>(
  { eventStore, space }: { readonly eventStore: string; readonly space: string },
  use: (log: EventStore) => Promise<Result>,
): Promise<Result> {
  const log = await openEventStore(eventStore, { space, decode: upcast });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}
