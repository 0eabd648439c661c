import { existsSync } from 'node:fs';
import type { Rebuild } from '../../projections/generations/generation.ts';
import { readFromGraph } from '../../projections/generations/graph-contents.ts';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { convertCopy } from '../../projections/graph/converted-copy.ts';
import { catchUpOrThrow } from '../../projections/graph/projector.ts';
import { checkFile, convertedFile, graphFile } from '../../projections/graph/store/generation-files.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { enterPhase, type PhaseMeter, type RebuildHost } from './rebuild-host.ts';
import { beginFile, finishFile } from './unfinished-file.ts';

/** Events of a transaction: each brings a checkpoint, and during it the rebuild cannot be interrupted or throttled. */
const BATCH_SIZE = 1_000;

/** The graphs that a rebuild brings up. */
export type RebuiltGraphs = ReturnType<typeof openGraphs>;

/** Opens the new generation's graphs, as far as they are. A copy is made whole here; the log is for `fillGraphs`. */
export function openGraphs(host: RebuildHost, rebuild: Rebuild) {
  const { data, store } = host;
  const file = graphFile(data, rebuild.generation);
  beginFile(file);
  if (!isDerived(rebuild)) beginFile(checkFile(data, rebuild.generation));
  if (!rebuild.scope.graph && !existsSync(file)) {
    enterPhase(host, rebuild, 'copying', { total: 1 });
    // An index of documents is written whole: the copy does not say which documents are up to date.
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
    /** From the log's first event: `made` itself, or what it is compared with where it was copied. */
    derived,
    /** Again is harmless. */
    close(): void {
      if (!isOpen) return;
      isOpen = false;
      made.close();
      if (derived !== made) derived.close();
    },
  };
}

/** Whether nothing but the new graph is made: from the log, or as a copy that is compared with nothing. */
function isDerived({ scope }: Rebuild): boolean {
  return scope.graph || scope.copy === true;
}

/** Applies the log to the graphs up to the position of the live one, where both are compared. Each continues at its checkpoint. */
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
 * Converts a copy of the new generation to the content types that are to come, ahead of the log. The generation stays as it is: the
 * process that serves it puts the copy in its place.
 */
export function convertAhead(host: RebuildHost, { generation }: Rebuild, { made }: RebuiltGraphs): void {
  const files = { file: graphFile(host.data, generation), copy: convertedFile(host.data, generation) };
  removeDatabase(files.copy);
  beginFile(files.copy);
  if (convertCopy(files, made, host.definitions)) finishFile(files.copy);
  else removeDatabase(files.copy);
}

/** The last event that the live graph shows; undefined: there is no live graph. */
export function livePosition({ data, store }: RebuildHost): bigint | undefined {
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
  // Others open the file.
  graph.settle();
}
