import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContentGraph } from '../../projections/content-graph.ts';
import { openEventStore } from '../../services/open-event-store.ts';
import { upcast } from '../../shared/document/upcasters.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';

/** What a log says, looked at from outside. */
export type LogFacts = {
  /** How often the value `<key> <number>` was written by events that count. */
  readonly edits: ReadonlyMap<string, number>;
  /** Documents created by events that count, by key. */
  readonly created: ReadonlyMap<string, number>;
  readonly claims: number;
  /** Document events that do not count: of a leader whose lease was over. */
  readonly fenced: number;
};

/** The fence is written down here a second time: a claim ends every older epoch for all that stands behind it. */
export async function readLogFacts(eventStore: string): Promise<LogFacts> {
  const edits = new Map<string, number>();
  const created = new Map<string, number>();
  let epoch = 0;
  let claims = 0;
  let fenced = 0;
  await withLog(eventStore, async (log) => {
    for await (const events of log.readAll(0n)) {
      for (const { type, data, metadata } of events) {
        if (type === 'leader-elected') {
          epoch = (data as { readonly epoch: number }).epoch;
          claims++;
        }
        if (type !== 'entry-created' && type !== 'entry-changed') continue;
        if (metadata.epoch < epoch) fenced++;
        if (metadata.epoch < epoch) continue;
        const { values } = data as { readonly values: { readonly key?: string; readonly name?: string } };
        if (values.name !== undefined) edits.set(values.name, (edits.get(values.name) ?? 0) + 1);
        if (type === 'entry-created' && values.key !== undefined)
          created.set(values.key, (created.get(values.key) ?? 0) + 1);
      }
    }
  });
  return { edits, created, claims, fenced };
}

/** Every row and link of the graph in a data directory whose process has ended. */
export function readGraph(data: string): readonly string[] {
  const graph = openContentGraph(join(data, 'graph.db'));
  try {
    return graphLines(graph);
  } finally {
    graph.close();
  }
}

/** The same of a graph that is made anew from the log. */
export async function rebuildGraph(eventStore: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-rebuilt-'));
  const graph = openContentGraph(join(folder, 'graph.db'));
  try {
    await withLog(eventStore, async (log) => {
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

async function withLog(eventStore: string, use: (log: EventStore) => Promise<void>): Promise<void> {
  const log = await openEventStore(eventStore, { space: 'varve', decode: upcast });
  try {
    await use(log);
  } finally {
    await log.close();
  }
}
