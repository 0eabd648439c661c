import type { Rebuild } from '../../projections/generations/generation.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { checkFile, graphFile } from '../../projections/graph/store/generation-files.ts';
import { removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { fillDocuments, type GenerationIndices, openNextIndices } from './fill-documents.ts';
import { fillGraphs, openConverted, openGraphs, type RebuiltGraphs, replay } from './fill-graphs.ts';
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
 * Makes a generation as a copy. The graph is not compared: the copy applies the log to its end before the switch. Indices outside the process
 * get the documents of the coming content types, and are compared with them.
 */
async function makeCopy(making: Making): Promise<void> {
  const { host, rebuild, graphs } = making;
  await fillGraphs(host, rebuild, graphs);
  refuseInterrupted(host.store, rebuild);
  if (await fillAhead(making)) await takeOver(making);
}

/** Returns whether the new indices, if there are any, may be switched to. */
async function fillAhead(making: Making): Promise<boolean> {
  const { host, rebuild, accept, graphs } = making;
  if (host.plan.outside === undefined) return true;
  const converted = openConverted(host, rebuild, graphs);
  const made = converted ?? graphs.made;
  try {
    const indices = await openIndices(making, made);
    if (indices === undefined) return true;
    // The verification fills them first. The live indices have other documents, so a document that only the new ones refuse must not hold
    // up the change.
    const next = { indices, excused: 'parked' } as const;
    return (
      note(host, rebuild, await verifyNextDocuments(host, rebuild, { made, derived: made }, next)) || accept
    );
  } finally {
    converted?.close();
  }
}

/** Makes a generation with the live one's content types. Both are compared at the live one's position, which moves. */
async function makeBeside(making: Making): Promise<void> {
  const { host, rebuild, accept, graphs } = making;
  await fillGraphs(host, rebuild, graphs);
  const indices = await openIndices(making, graphs.made);
  if (indices !== undefined) await fillDocuments(host, rebuild, graphs.made, indices);
  await host.withOperations(async (operations) => {
    for await (const _level of operations.run('level', {}));
  });
  // This applies events that were written in the meantime.
  await fillGraphs(host, rebuild, graphs);
  const isGood = note(host, rebuild, await verifyGeneration(host, rebuild, graphs, indices));
  if (isGood || accept) await takeOver(making);
}

async function openIndices(
  { host, rebuild, opened }: Making,
  graph: ContentGraph,
): Promise<GenerationIndices | undefined> {
  const indices = await openNextIndices(host, rebuild, graph);
  if (indices !== undefined) opened.push(indices);
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
