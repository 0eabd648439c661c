import { existsSync } from 'node:fs';
import type { Rebuild } from '../../projections/generations/generation.ts';
import { readFromGraph } from '../../projections/generations/graph-contents.ts';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { convertCopy, openConvertedCopy } from '../../projections/graph/converted-copy.ts';
import { catchUpOrThrow } from '../../projections/graph/projector.ts';
import { checkFile, convertedFile, graphFile } from '../../projections/graph/store/generation-files.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { enterPhase, type PhaseMeter, type RebuildHost } from './rebuild-host.ts';
import { beginFile, finishFile, isUnfinished } from './unfinished-file.ts';

/** Events of a transaction. It writes a checkpoint, and the rebuild cannot be interrupted or throttled during it. */
const BATCH_SIZE = 1_000;

/** Graphs that a rebuild fills. */
export type RebuiltGraphs = ReturnType<typeof openGraphs>;

/** Opens the new generation's graphs in their current state. A copy is completed here; `fillGraphs` applies the log. */
export function openGraphs(host: RebuildHost, rebuild: Rebuild) {
  const { data, store } = host;
  const file = graphFile(data, rebuild.generation);
  beginFile(file);
  if (!isDerived(rebuild)) beginFile(checkFile(data, rebuild.generation));
  if (!rebuild.scope.graph && !existsSync(file)) {
    enterPhase(host, rebuild, 'copying', { total: 1 });
    // An index of documents is written completely: the copy does not know which documents are up to date.
    copyDatabase(graphFile(data, store.live().number), file, "DELETE FROM meta WHERE name = 'accounted'");
  }
  const made = openContentGraph(file, { ...host.plan.graph, building: true });
  const derived = isDerived(rebuild)
    ? made
    : openContentGraph(checkFile(data, rebuild.generation), { building: true });
  let isOpen = true;
  return {
    /** Graph of the new generation. */
    made,
    /** Graph replayed from the log's first event: `made` itself, or the graph to compare with `made` if that is a copy. */
    derived,
    /** Closes the graphs. A second call has no effect. */
    close(): void {
      if (!isOpen) return;
      isOpen = false;
      made.close();
      if (derived !== made) derived.close();
    },
  };
}

/** Returns whether only the new graph is made: from the log, or as a copy that is not compared. */
function isDerived({ scope }: Rebuild): boolean {
  return scope.graph || scope.copy === true;
}

/** Applies the log to the graphs, each from its checkpoint up to the live graph's position, where both are compared. */
export async function fillGraphs(
  host: RebuildHost,
  rebuild: Rebuild,
  { made, derived }: RebuiltGraphs,
): Promise<void> {
  const until = livePosition(host) ?? (await host.log.lastPosition());
  const meter = enterPhase(host, rebuild, 'replaying', {
    total: Number(until),
    done: Number(derived.position()),
  });
  await replay(host, derived, until, meter);
  if (made !== derived) await replay(host, made, until, meter);
  meter.ended();
}

/**
 * Opens a copy of the new generation's graph that is converted to the coming content types, ahead of the log. Returns undefined if these are
 * in force already. The generation itself is converted when it comes into force. An earlier attempt may have made the copy.
 */
export function openConverted(
  { data, definitions, plan }: RebuildHost,
  { generation }: Rebuild,
  { made }: RebuiltGraphs,
): ContentGraph | undefined {
  const files = { file: graphFile(data, generation), copy: convertedFile(data, generation) };
  const open = () => openConvertedCopy(files.copy, definitions, plan.graph);
  if (isUnfinished(files.copy)) removeDatabase(files.copy);
  const known = open();
  if (known !== undefined) return known;
  beginFile(files.copy);
  if (!convertCopy(files, made, definitions)) {
    removeDatabase(files.copy);
    return undefined;
  }
  finishFile(files.copy);
  return open();
}

/** Returns the position of the live graph; undefined if there is no live graph. */
function livePosition({ data, store }: RebuildHost): bigint | undefined {
  const file = graphFile(data, store.live().number);
  if (!existsSync(file)) return undefined;
  return readFromGraph(file, ({ position }) => position);
}

/** Applies the log up to `until`. */
export async function replay(
  host: RebuildHost,
  graph: ContentGraph,
  until: bigint,
  meter?: PhaseMeter,
): Promise<void> {
  if (graph.position() >= until) return;
  let started = performance.now();
  await catchUpOrThrow(host.log, graph, {
    until,
    batchSize: BATCH_SIZE,
    async onBatch(events) {
      await meter?.worked(events, performance.now() - started, Number(until - graph.position()));
      started = performance.now();
      return 'continue';
    },
  });
  // Other processes open the file, so all changes must be in it.
  graph.settle();
}
