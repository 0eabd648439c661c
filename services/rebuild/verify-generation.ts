import { setTimeout as delay } from 'node:timers/promises';
import { compareGraphs } from '../../projections/generations/compare-graphs.ts';
import type { FoundDifferences } from '../../projections/generations/compare-items.ts';
import type { Rebuild } from '../../projections/generations/generation.ts';
import { type GraphContents, readGraphContents } from '../../projections/generations/graph-contents.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { readParkedKeys } from '../../projections/graph/stale/read-stale-keys.ts';
import { documentName, staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import type { DocumentKey } from '../../projections/graph/stale/stale-rows.ts';
import { checkFile, graphFile } from '../../projections/graph/store/generation-files.ts';
import { fillDocuments, type GenerationIndices, refuseReplaced } from './fill-documents.ts';
import { type RebuiltGraphs, replay } from './fill-graphs.ts';
import { enterPhase, type RebuildHost, refuseInterrupted } from './rebuild-host.ts';
import { verifyNewDocuments } from './verify-documents.ts';

/** Result of a verification, at the position of the comparison. */
export type Verification = FoundDifferences & { readonly position: bigint };

/** Largest number of differences that are shown. All are counted. */
const SHOWN_DIFFERENCES = 1_000;
const LIVE_PAUSE_MS = 20;

/**
 * Compares the new generation with the live one, both at the live one's position. A copied graph is also compared with a replay of the log.
 * The server writes to the live graph in the meantime, so the comparison reads it in one transaction.
 */
export async function verifyGeneration(
  host: RebuildHost,
  rebuild: Rebuild,
  graphs: RebuiltGraphs,
  indices?: GenerationIndices,
): Promise<Verification> {
  const live = await readLive(host, rebuild, graphs);
  try {
    await replay(host, graphs.derived, live.position);
    await replay(host, graphs.made, live.position);
    const ofGraphs = await compareAll(host, rebuild, graphs, live);
    if (indices === undefined) return ofGraphs;
    const ofDocuments = await verifyNextDocuments(host, rebuild, graphs, {
      indices,
      excused: 'parked in both',
    });
    return {
      position: live.position,
      differences: [...ofGraphs.differences, ...ofDocuments.differences].slice(0, SHOWN_DIFFERENCES),
      count: ofGraphs.count + ofDocuments.count,
    };
  } finally {
    live.close();
  }
}

/** New indices, and the documents that may be missing there. */
export type NextDocuments = {
  readonly indices: GenerationIndices;
  /** `parked`: those that the new indices refuse. `parked in both`: those of them that the live indices refuse too. */
  readonly excused: 'parked' | 'parked in both';
};

/**
 * Fills the new indices, and compares their documents with those made from `derived`. Both are at the position of the graphs. Rejects if
 * the indices that the rebuild does not make are no longer live.
 */
export async function verifyNextDocuments(
  host: RebuildHost,
  rebuild: Rebuild,
  { made, derived }: Pick<RebuiltGraphs, 'made' | 'derived'>,
  { indices, excused }: NextDocuments,
): Promise<Verification> {
  await fillDocuments(host, rebuild, made, indices);
  const meter = enterPhase(host, rebuild, 'verifying', { total: 4 * derived.size().rows });
  const { index, stored } = indices.sets.documents(indices.set);
  const isRefused = refusedDocuments(host, made, excused);
  const compared = { derived, index, stored, scope: rebuild.scope, isRefused };
  const found = await verifyNewDocuments(compared, meter, SHOWN_DIFFERENCES);
  meter.ended();
  await refuseReplaced(host, rebuild, made, indices);
  return { position: made.position(), ...found };
}

function refusedDocuments(
  { data, store }: RebuildHost,
  made: ContentGraph,
  excused: NextDocuments['excused'],
): (document: DocumentKey) => boolean {
  const inNew = new Set(staleDocumentsOf(made).parked.all().map(documentName));
  if (excused === 'parked' || inNew.size === 0) return (document) => inNew.has(documentName(document));
  const inLive = new Set(readParkedKeys(graphFile(data, store.live().number)).map(documentName));
  return (document) => inNew.has(documentName(document)) && inLive.has(documentName(document));
}

/** Returns the contents of the live graph at a position that the new graph has not passed. */
async function readLive(
  host: RebuildHost,
  rebuild: Rebuild,
  { made, derived }: RebuiltGraphs,
): Promise<GraphContents> {
  const file = graphFile(host.data, host.store.live().number);
  const positions = [made.position(), derived.position()];
  for (;;) {
    const live = readGraphContents(file);
    if (positions.every((position) => position <= live.position)) return live;
    live.close();
    refuseInterrupted(host.store, rebuild);
    await delay(LIVE_PAUSE_MS);
  }
}

async function compareAll(
  host: RebuildHost,
  rebuild: Rebuild,
  { made, derived }: RebuiltGraphs,
  live: GraphContents,
): Promise<Verification> {
  const { position } = live;
  const fresh = readGraphContents(graphFile(host.data, rebuild.generation));
  const check = made === derived ? undefined : readGraphContents(checkFile(host.data, rebuild.generation));
  const before = check ?? live;
  const total = before.count() + fresh.count();
  const meter = enterPhase(host, rebuild, 'verifying', { total });
  try {
    const compared = { before, after: fresh, scope: rebuild.scope };
    const found = await compareGraphs(compared, meter, SHOWN_DIFFERENCES);
    meter.ended();
    return { position, ...found };
  } finally {
    fresh.close();
    check?.close();
  }
}
