import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { defined } from '../../shared/defined.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import {
  applyTo,
  type GenerationState,
  gently,
  type OpenGeneration,
  openGraphGently,
} from './generation-state.ts';
import { giveUpKept } from './kept-generations.ts';
import type { ReadSide } from './read-side.ts';

/** Requests come first: each piece of work takes some milliseconds. */
const EVENTS_AT_ONCE = 25;

/**
 * Opens a generation beside the live one and brings it level with that. `set`: its indices outside the process. `judge`: rejects
 * where the graph, level with the log, is of no use.
 */
export async function openNext(
  state: GenerationState,
  number: number,
  set: IndexSet | undefined,
  judge: (graph: ContentGraph) => Promise<void> = async () => {},
): Promise<OpenGeneration> {
  const { log } = state;
  const held = (await giveUpKept(state, number)) ?? {
    graph: await openGraphGently(state, number),
    readSide: undefined,
  };
  const { graph } = held;
  let { readSide } = held;
  try {
    for await (const events of log.readAll(graph.position(), { batchSize: EVENTS_AT_ONCE })) {
      if (events.some(({ type }) => type === 'content-type-defined')) {
        // An index is of the content types it was made with.
        await readSide?.close();
        readSide = undefined;
      }
      await gently(() => applyTo({ graph, readSide }, events));
    }
    await judge(graph);
    const isRead = state.live.readSide !== undefined || set !== undefined;
    if (isRead) readSide ??= await openBeside(state, graph, set);
    const next = { number, graph, readSide };
    await bringLevel(state, next);
    return next;
  } catch (error) {
    await readSide?.close();
    graph.close();
    throw error;
  }
}

/** Opens a read side that does what the live one does. */
async function openBeside(
  { plan, log, role, live }: GenerationState,
  graph: ContentGraph,
  set: IndexSet | undefined,
): Promise<ReadSide | undefined> {
  const beside = live.readSide?.index;
  const readSide = await plan?.open(graph, log, {
    ...defined({ beside, set }),
  });
  await role(readSide);
  return readSide;
}

/** First from the log, then with what was applied meanwhile: however fast others write, an end is reached. */
async function bringLevel(state: GenerationState, next: OpenGeneration): Promise<void> {
  state.missed = [];
  const until = state.live.graph.position();
  for await (const events of state.log.readAll(next.graph.position(), { batchSize: EVENTS_AT_ONCE })) {
    const rest = events.filter(({ position }) => position <= until);
    if (rest.length > 0) await gently(() => applyTo(next, rest));
    if (rest.length < events.length) break;
  }
  await applyMissed(state, next);
}

export async function applyMissed(state: GenerationState, next: OpenGeneration): Promise<void> {
  while (state.missed !== undefined && state.missed.length > 0) {
    const events = state.missed.splice(0, EVENTS_AT_ONCE);
    await applyTo(
      next,
      events.filter(({ position }) => position > next.graph.position()),
    );
  }
}
