import { setTimeout as delay } from 'node:timers/promises';
import {
  createComparison,
  createDigestSum,
  type Difference,
  differingGroups,
  type Item,
} from '../../projections/generations/digest.ts';
import type { Rebuild } from '../../projections/generations/generation.ts';
import { checkFile, graphFile } from '../../projections/generations/generation-files.ts';
import { type GraphContents, readGraphContents } from '../../projections/generations/graph-contents.ts';
import { fillDocuments, type GenerationIndices } from './fill-documents.ts';
import { type RebuiltGraphs, replay } from './fill-graphs.ts';
import { enterPhase, type PhaseMeter, type RebuildHost } from './rebuild-host.ts';
import { verifyNewDocuments } from './verify-documents.ts';

/** What a verification found, at the position at which all were compared. */
export type Verification = {
  readonly position: bigint;
  /** So many of them as are shown. */
  readonly differences: readonly Difference[];
  readonly count: number;
};

/** Differences that are shown; all are counted. */
const SHOWN_DIFFERENCES = 1_000;
const ITEMS_AT_ONCE = 20_000;
const LIVE_PAUSE_MS = 20;

/**
 * Compares the new generation with the one that serves, both at the position of the latter, and, where its graph was copied,
 * with what the log gives. The server that writes to the live graph goes on meanwhile: it is read as it is at one moment.
 */
export async function verifyGeneration(
  host: RebuildHost,
  rebuild: Rebuild,
  graphs: RebuiltGraphs,
  indices?: GenerationIndices,
): Promise<Verification> {
  const live = await readLive(host, graphs);
  try {
    await replay(host, graphs.derived, live.position);
    await replay(host, graphs.made, live.position);
    const ofGraphs = await compareAll(host, rebuild, graphs, live);
    if (indices === undefined) return ofGraphs;
    const ofDocuments = await compareDocuments(host, rebuild, graphs, indices);
    return {
      position: live.position,
      differences: [...ofGraphs.differences, ...ofDocuments.differences].slice(0, SHOWN_DIFFERENCES),
      count: ofGraphs.count + ofDocuments.count,
    };
  } finally {
    live.close();
  }
}

/** What is really in the new indices, against what the log gives. */
async function compareDocuments(
  host: RebuildHost,
  rebuild: Rebuild,
  { made, derived }: RebuiltGraphs,
  indices: GenerationIndices,
): Promise<Omit<Verification, 'position'>> {
  await fillDocuments(host, rebuild, made, indices);
  const meter = enterPhase(host, rebuild, 'verifying', { total: 4 * derived.size().rows });
  const { index, stored } = indices.sets.documents(indices.set);
  return verifyNewDocuments({ derived, index, stored, scope: rebuild.scope }, meter, SHOWN_DIFFERENCES);
}

/** The live graph at a position that the new one has not passed. */
async function readLive(host: RebuildHost, { made, derived }: RebuiltGraphs): Promise<GraphContents> {
  const file = graphFile(host.data, host.store.live().number);
  const positions = [made.position(), derived.position()];
  for (;;) {
    const live = readGraphContents(file);
    if (positions.every((position) => position <= live.position)) return live;
    live.close();
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
    const found = await compare(rebuild, before, fresh, meter);
    return { position, ...found };
  } finally {
    fresh.close();
    check?.close();
  }
}

/** Sums first; only where they differ the items themselves, of the groups that differ. */
async function compare(
  { scope }: Rebuild,
  before: GraphContents,
  after: GraphContents,
  meter: PhaseMeter,
): Promise<Omit<Verification, 'position'>> {
  const digests = [];
  for (const side of [before, after]) {
    const sum = createDigestSum();
    await eachItem(side.items(scope), sum.add, meter);
    digests.push(sum.digest());
  }
  const [a = new Map(), b = new Map()] = digests;
  const groups = new Set(differingGroups(a, b));
  if (groups.size === 0) return { differences: [], count: 0 };
  const comparison = createComparison(SHOWN_DIFFERENCES);
  const pick = (take: (item: Item) => void) => (item: Item) => {
    if (groups.has(item.group)) take(item);
  };
  await eachItem(before.items(scope), pick(comparison.before), meter);
  await eachItem(after.items(scope), pick(comparison.after), meter);
  return comparison.result();
}

async function eachItem(items: Iterable<Item>, take: (item: Item) => void, meter: PhaseMeter): Promise<void> {
  let count = 0;
  let started = performance.now();
  for (const item of items) {
    take(item);
    if (++count < ITEMS_AT_ONCE) continue;
    await meter.worked(count, performance.now() - started);
    count = 0;
    started = performance.now();
  }
  await meter.worked(count, performance.now() - started);
}
