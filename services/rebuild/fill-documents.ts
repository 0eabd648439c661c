import { setTimeout as delay } from 'node:timers/promises';
import type { ContentGraph } from '../../projections/content-graph.ts';
import type { Rebuild } from '../../projections/generations/generation.ts';
import { startIndexWriter } from '../../projections/index-writer.ts';
import type { StaleDocuments } from '../../projections/stale-documents.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { reportWriter } from '../elasticsearch/report-writer.ts';
import type { DocumentSets } from '../read-side.ts';
import { enterPhase, type PhaseMeter, type RebuildHost } from './rebuild-host.ts';

const LOOK_EVERY_MS = 100;

/** The indices of a generation in the making. */
export type GenerationIndices = { readonly sets: DocumentSets; readonly set: IndexSet };

/**
 * Opens the indices of the new generation, making those that are not there; undefined where the index is not outside the process.
 * Their names are noted before the first is made, so that a rebuild that is given up leaves none.
 */
export async function openIndices(
  host: RebuildHost,
  { generation }: Rebuild,
  made: ContentGraph,
): Promise<GenerationIndices | undefined> {
  const { plan, store, log } = host;
  if (plan.outside === undefined) return undefined;
  const sets = await plan.outside.open(made.registry(), log);
  try {
    const known = store.generations().find(({ number }) => number === generation)?.indices;
    const set = known ?? (await sets.plan({}));
    if (known === undefined) store.noteIndices(generation, set);
    await sets.make(set);
    return { sets, set };
  } catch (error) {
    await sets.close();
    throw error;
  }
}

/**
 * Writes the documents that are not as the graph has them: all at first, later those that the log has changed. The account of
 * them is the graph's, so one that was cut short goes on where it was.
 */
export async function fillDocuments(
  host: RebuildHost,
  rebuild: Rebuild,
  made: ContentGraph,
  { sets, set }: GenerationIndices,
): Promise<void> {
  const stale = accountOf(made);
  if (!stale.isComplete()) stale.markAll([...made.registry().contentTypes.keys()]);
  const { rows: total } = stale.count();
  const meter = enterPhase(host, rebuild, 'indexing', { total });
  let failure: Error | undefined;
  const index = gently(sets.documents(set).index, meter, (error) => {
    failure ??= error;
  });
  const writer = startIndexWriter({ graph: made, index, report: reportWriter(host.report) });
  let isAtRest = false;
  const rest = writer.atRest().then(() => {
    isAtRest = true;
  });
  try {
    while (!isAtRest && failure === undefined) {
      await Promise.race([rest, writer.done, delay(LOOK_EVERY_MS)]);
      // It may be given up while the index takes nothing.
      await meter.worked(0, 0);
    }
    if (failure !== undefined) throw failure;
  } finally {
    writer.stop();
    await writer.close();
  }
}

/** Rests between requests as the throttle says. */
function gently(index: DocumentIndex, meter: PhaseMeter, interrupted: (error: Error) => void): DocumentIndex {
  return {
    ...index,
    async write(documents, options) {
      const started = performance.now();
      const outcomes = await index.write(documents, options);
      await meter.worked(documents.length, performance.now() - started).catch(interrupted);
      return outcomes;
    },
  };
}

export function accountOf({ stale }: ContentGraph): StaleDocuments {
  if (stale === undefined) throw new Error('the graph keeps no account of stale documents');
  return stale;
}
