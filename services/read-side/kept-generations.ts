import { setTimeout as delay } from 'node:timers/promises';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { removeGeneration } from '../../projections/graph/store/generation-files.ts';
import { splitAtUnreadable } from '../../shared/event-store/unreadable.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { applyTo, type GenerationState, gently, type HeldGeneration, openGraph } from './generation-state.ts';
import { removeIndices } from './remove-indices.ts';

/** Kept generations wait so long between batches: many events at once cost a fraction, and nobody reads them. */
const KEPT_PAUSE_MS = 1_000;
/** Of a batch: requests wait so long as it takes. */
const EVENTS_AT_ONCE = 25;
/** So long after it served its index stays in memory: whoever wants it back mostly wants it soon, and then has it at once. */
const KEPT_IN_MEMORY_MS = 10 * 60_000;
/** Between writes of its documents. */
const DOCUMENTS_PAUSE_MS = 10_000;
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * Has a generation follow the log: its graph, its index as long as that is held, and its documents. It stops before content types
 * that change, as converting it takes long: what is missing is applied when the generation is taken up again.
 */
export function keep(state: GenerationState, number: number, opened?: HeldGeneration): void {
  const graph = opened?.graph ?? openGraph(state, number);
  let readSide = opened?.readSide;
  const stop = new AbortController();
  const { signal } = stop;
  const letIndexGo = async () => {
    const index = readSide;
    readSide = undefined;
    await index?.close();
  };
  const timer = setTimeout(() => void letIndexGo(), KEPT_IN_MEMORY_MS).unref();
  const following = state.log.subscribe(
    graph.position(),
    async (events) => {
      if (events.some(({ type }) => type === 'content-type-defined')) stop.abort();
      if (signal.aborted) return;
      const { readable, stop: unreadable } = splitAtUnreadable(events);
      await gently(() => applyTo({ graph, readSide }, readable));
      if (unreadable !== undefined) stop.abort();
      // Of others' time as much as is left when there is more.
      if (events.length < EVENTS_AT_ONCE)
        await delay(KEPT_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
    },
    { batchSize: EVENTS_AT_ONCE },
  );
  // It is told when the generation is asked for.
  following.done.catch(() => {});
  const { indices } = state.store.generations().find((each) => each.number === number) ?? {};
  const documents = indices === undefined ? undefined : keepDocuments(state, graph, indices, signal);
  const giveUp = async () => {
    const isBehind = signal.aborted;
    stop.abort();
    clearTimeout(timer);
    await documents;
    await following.close();
    // An index is of the content types it was made with.
    if (isBehind) await letIndexGo();
    return { graph, readSide };
  };
  state.kept.set(number, { graph, giveUp });
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
    const own = await plan?.outside?.own(set).catch(() => undefined);
    // The live generation writes what both have.
    if (own === undefined) continue;
    const readSide = await plan?.open(graph, log, { set, writes: own });
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

/** What is held of a kept generation, which follows the log no more; undefined where it did not. */
export async function giveUpKept(
  { kept }: GenerationState,
  number: number,
): Promise<HeldGeneration | undefined> {
  const found = kept.get(number);
  kept.delete(number);
  return found?.giveUp();
}

/** Closes what is held of a kept generation. */
export async function closeKept(state: GenerationState, number: number): Promise<void> {
  const held = await giveUpKept(state, number);
  await held?.readSide?.close();
  held?.graph.close();
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
  await closeKept(state, number);
  await removeIndices(store, number, plan?.outside);
  removeGeneration(data, number);
  store.forget(number);
}
