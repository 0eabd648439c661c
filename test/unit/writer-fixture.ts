import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { type IndexWriter, startIndexWriter } from '../../projections/index-writer/index-writer.ts';
import { SUSPECT_LIMITS, type SuspectLimits } from '../../projections/index-writer/suspects.ts';
import type { WriterReport } from '../../projections/index-writer/writer-report.ts';
import type { Backoff } from '../../shared/backoff.ts';
import { defined } from '../../shared/defined.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import { documentDependencies } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { createLayouts } from '../../shared/read-index/elasticsearch/layout/create-layouts.ts';
import { documentText } from '../support/document-text.ts';
import { createMemoryDocumentIndex, type MemoryDocumentIndex } from '../support/memory-document-index.ts';
import { connect, created, createLog, DEFINITIONS } from './graph-fixture.ts';

export type WriterSetting = {
  readonly graph: ContentGraph;
  readonly index: MemoryDocumentIndex;
  readonly reports: WriterReport[];
  /** Applies events like the projector, and wakes the writer. */
  given(...events: readonly VarveEvent[]): bigint;
  start(): IndexWriter;
  /** Opens the graph again, as after a crash. If `accounting` is false, it is opened for another kind of index. */
  reopen(accounting?: boolean): void;
};

/** Opens a graph and a document index in memory. The test closes both. */
export function openSetting(limits?: Partial<SuspectLimits>, retryWaits?: Backoff): WriterSetting {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-writer-'));
  const file = path.join(folder, 'graph.db');
  const log = createLog();
  const open = (accounting = true) =>
    openContentGraph(file, accounting ? { dependencies: documentDependencies } : {});
  let graph = open();
  let writer: IndexWriter | undefined;
  graph.apply(log.add(...DEFINITIONS));
  graph.stale?.markAll([...graph.registry().contentTypes.keys()]);
  const layouts = createLayouts(graph.registry());
  const index = createMemoryDocumentIndex(({ type, key }, neighbours) => {
    const row = neighbours.row(type, key);
    const layout = layouts.get(type);
    if (row === undefined || layout === undefined) return undefined;
    return documentText(layout, key, row, neighbours);
  });
  const reports: WriterReport[] = [];
  onTestFinished(async () => {
    await writer?.close();
    graph.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    get graph() {
      return graph;
    },
    index,
    reports,
    given(...events) {
      graph.apply(log.add(...events));
      writer?.wake();
      return graph.position();
    },
    start() {
      writer = startIndexWriter({
        graph,
        index,
        report: (report) => reports.push(report),
        ...defined({ suspectLimits: limits && { ...SUSPECT_LIMITS, ...limits }, retryWaits }),
      });
      return writer;
    },
    reopen(accounting) {
      graph.close();
      graph = open(accounting);
    },
  };
}

/** Returns the wanted content of every document, made directly from the graph. */
export function wanted({ graph, index }: WriterSetting): ReadonlyMap<string, string> {
  const documents = new Map<string, string>();
  for (const document of graph.stale?.all() ?? []) {
    const { row, neighbours } = graph.stale?.read(document) ?? {};
    if (row === undefined || neighbours === undefined) continue;
    documents.set(`${row.type} ${row.world} ${row.key}`, String(index.present(row, neighbours).bytes));
  }
  return documents;
}

/** A few entries that show each other. */
export const SOME: readonly VarveEvent[] = [
  created('country', 'fr', { values: { name: 'France' } }),
  created('chef', 'anna', { values: { name: 'Anna' }, relations: [connect('country', 'fr')] }),
  created('restaurant', 'r1', { values: { name: 'One' }, relations: [connect('chef', 'anna')] }),
  created('restaurant', 'r2', { values: { name: 'Two' }, relations: [connect('chef', 'anna')] }),
];
