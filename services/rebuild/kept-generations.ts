import { setTimeout as delay } from 'node:timers/promises';
import type { ContentGraph } from '../../projections/content-graph.ts';
import { removeGeneration } from '../../projections/generations/generation-files.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { type GenerationState, openGraph } from './generation-state.ts';
import { removeIndices } from './remove-indices.ts';

/** Kept generations wait so long between batches: many events at once cost a fraction, and nobody reads them. */
const KEPT_PAUSE_MS = 1_000;
/** The same between writes of their documents. */
const DOCUMENTS_PAUSE_MS = 10_000;
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * Has a generation follow the log, in large batches. It stops before content types that change, as converting it takes long:
 * what is missing is applied when the generation is taken up again.
 */
export function keep(state: GenerationState, number: number, opened?: ContentGraph): void {
  const graph = opened ?? openGraph(state, number);
  const stop = new AbortController();
  const { signal } = stop;
  const { done, close } = state.log.subscribe(graph.position(), async (events) => {
    if (events.some(({ type }) => type === 'content-type-defined')) stop.abort();
    if (signal.aborted) return;
    graph.replay(events);
    await delay(KEPT_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
  });
  // It is told when the generation is asked for.
  done.catch(() => {});
  const { indices } = state.store.generations().find((each) => each.number === number) ?? {};
  const documents = indices === undefined ? undefined : keepDocuments(state, graph, indices, signal);
  const stopFollowing = async () => {
    stop.abort();
    await documents;
    return close();
  };
  state.kept.set(number, { graph, stopFollowing });
}

/** Writes what has changed now and then. What cannot be written now is written the next time. */
async function keepDocuments(
  { plan, log }: GenerationState,
  graph: ContentGraph,
  set: IndexSet,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(DOCUMENTS_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    if (graph.stale?.isComplete() === true && graph.stale.count().rows === 0) continue;
    const readSide = await plan?.open(graph, log, { set });
    try {
      await readSide?.lead(0);
      const ended = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      await Promise.race([readSide?.shows?.(graph.position(), NO_LIMIT_MS), readSide?.done, ended]);
    } catch {
      // A graph that cannot be read is told of when the generation is asked for.
    } finally {
      await readSide?.close();
    }
  }
}

/** The graph of a kept generation, which follows the log no more; undefined where it did not. */
export async function giveUpKept(
  { kept }: GenerationState,
  number: number,
): Promise<ContentGraph | undefined> {
  const found = kept.get(number);
  kept.delete(number);
  await found?.stopFollowing();
  return found?.graph;
}

/** One generation is kept: what a rollback goes back to. */
export async function removeOlder(state: GenerationState, kept: number): Promise<void> {
  const older = state.store.generations().filter((each) => each.state === 'kept' && each.number !== kept);
  for (const { number } of older) await remove(state, number);
}

export async function dropKept(state: GenerationState): Promise<readonly number[]> {
  await state.joint?.over;
  const numbers = state.store.generations().flatMap((each) => (each.state === 'kept' ? [each.number] : []));
  for (const number of numbers) await remove(state, number);
  return numbers;
}

/** Its record last: without it nobody would know of the rest. */
async function remove(state: GenerationState, number: number): Promise<void> {
  const { store, data, plan } = state;
  (await giveUpKept(state, number))?.close();
  const { indices } = store.generations().find((each) => each.number === number) ?? {};
  await removeIndices({ outside: plan?.outside }, indices);
  removeGeneration(data, number);
  store.forget(number);
}
