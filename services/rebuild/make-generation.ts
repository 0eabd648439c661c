import type { Rebuild } from '../../projections/generations/generation.ts';
import { checkFile, graphFile } from '../../projections/graph/store/generation-files.ts';
import { removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { fillDocuments, type GenerationIndices, openNextIndices } from './fill-documents.ts';
import {
  convertAhead,
  fillGraphs,
  livePosition,
  openGraphs,
  type RebuiltGraphs,
  replay,
} from './fill-graphs.ts';
import { type RebuildHost, refuseInterrupted } from './rebuild-host.ts';
import { finishFile } from './unfinished-file.ts';
import { type Verification, verifyGeneration, verifyNextDocuments } from './verify-generation.ts';

/**
 * Makes a generation, verifies it and switches over, continuing from the phase it is in. Ends before the switch if the verification finds
 * differences that are not accepted. Rejects if it is interrupted or if a step fails.
 */
export async function makeGeneration(host: RebuildHost, rebuild: Rebuild, accept: boolean): Promise<void> {
  // The graph is complete, and the process that switches over to it may have it open.
  if (rebuild.phase === 'taking over') return switchOver(host, rebuild);
  const making: Making = { host, rebuild, accept, graphs: openGraphs(host, rebuild), opened: [] };
  try {
    if (rebuild.scope.copy === true) await makeCopy(making);
    else if (host.plan.outside !== undefined && (await isBeforeChange(host))) await makeForChange(making);
    else await makeBeside(making);
  } finally {
    for (const { sets } of making.opened) await sets.close();
    making.graphs.close();
  }
}

type Making = {
  readonly host: RebuildHost;
  readonly rebuild: Rebuild;
  /** True if the differences that the verification finds are intended. */
  readonly accept: boolean;
  readonly graphs: RebuiltGraphs;
  /** Indices outside the process, if there are any. */
  readonly opened: GenerationIndices[];
};

/**
 * Returns whether the log defines content types after the live graph's position. The live graph stays at its position until a generation
 * with these types exists.
 */
async function isBeforeChange(host: RebuildHost): Promise<boolean> {
  const position = livePosition(host);
  if (position === undefined) return false;
  for await (const events of host.log.readAll(position))
    if (events.some(({ type }) => type === 'content-type-defined')) return true;
  return false;
}

/** Makes a generation as a copy. Nothing is compared: the copy applies the log to its end before the switch. */
async function makeCopy(making: Making): Promise<void> {
  const { host, rebuild, graphs } = making;
  await fillGraphs(host, rebuild, graphs);
  if (host.plan.outside === undefined) convertAhead(host, rebuild, graphs);
  refuseInterrupted(host.store, rebuild);
  await fillIndices(making);
  await takeOver(making);
}

/** Makes a generation with the live one's content types. Both are compared at the live one's position, which moves. */
async function makeBeside(making: Making): Promise<void> {
  const { host, rebuild, accept, graphs } = making;
  await fillGraphs(host, rebuild, graphs);
  const indices = await fillIndices(making);
  await host.withOperations(async (operations) => {
    for await (const _level of operations.run('level', {}));
  });
  // This applies events that were written in the meantime.
  await fillGraphs(host, rebuild, graphs);
  const isGood = note(host, rebuild, await verifyGeneration(host, rebuild, graphs, indices));
  if (isGood || accept) await takeOver(making);
}

/**
 * Makes a generation with content types that the live one does not have. The graphs are compared at the live one's position, which does not
 * move. The indices contain later events too.
 */
async function makeForChange(making: Making): Promise<void> {
  const { host, rebuild, accept, graphs } = making;
  const { made, derived } = graphs;
  await fillGraphs(host, rebuild, graphs);
  // The new graph passes the live one's position only after both were found equal.
  const isVerified = made.position() > (livePosition(host) ?? 0n);
  if (!isVerified) {
    const isGood = note(host, rebuild, await verifyGeneration(host, rebuild, graphs));
    if (!isGood && !accept) return;
  }
  host.store.enter(rebuild.id, 'indexing');
  const end = await host.log.lastPosition();
  for (const graph of new Set([derived, made])) await replay(host, graph, end);
  const indices = await fillIndices(making);
  if (indices !== undefined) {
    // The live indices have other documents, so a document that only the new ones refuse must not hold up all writes.
    const next = { indices, excused: 'parked' } as const;
    const isGood = note(host, rebuild, await verifyNextDocuments(host, rebuild, graphs, next));
    if (!isGood && !accept) return;
  }
  await takeOver(making);
}

async function fillIndices({
  host,
  rebuild,
  graphs,
  opened,
}: Making): Promise<GenerationIndices | undefined> {
  const indices = await openNextIndices(host, rebuild, graphs.made);
  if (indices === undefined) return undefined;
  opened.push(indices);
  await fillDocuments(host, rebuild, graphs.made, indices);
  return indices;
}

/** Returns whether the verification allows the switch. Otherwise records its differences. */
function note(host: RebuildHost, rebuild: Rebuild, found: Verification): boolean {
  const { position, differences, count } = found;
  refuseInterrupted(host.store, rebuild);
  host.store.noteDifferences(differences);
  if (count === 0) return true;
  host.store.enter(rebuild.id, 'stopped', `${count} differences at position ${position}`);
  return false;
}

async function takeOver({ host, rebuild, graphs }: Making): Promise<void> {
  const { data, store } = host;
  await replay(host, graphs.made, await host.log.lastPosition());
  graphs.close();
  finishFile(graphFile(data, rebuild.generation));
  removeDatabase(checkFile(data, rebuild.generation));
  store.enter(rebuild.id, 'taking over');
  await switchOver(host, rebuild);
}

/** Switches over, or reports to the server that started this process that the generation is ready for it. */
async function switchOver(host: RebuildHost, rebuild: Rebuild): Promise<void> {
  host.tell(host.store.rebuild() ?? rebuild);
  if (!host.takesOver) return;
  await host.withOperations(async (operations) => {
    for await (const _line of operations.run('take-over', { generation: rebuild.generation }));
  });
}
