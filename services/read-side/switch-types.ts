import type { GenerationState, OpenGeneration } from './generation-state.ts';
import { keep, removeOlder } from './kept-generations.ts';
import { leadSearches, type SwitchTarget, untilShown } from './lead-searches.ts';

/** Answers come from what served until there are those by the new content types, and are then still being sent. */
const READ_FOR_MS = 60_000;

/**
 * Makes a generation of other content types live: nothing is written meanwhile, so there is a moment at which it shows all there
 * is. What served before keeps its indices and is given nothing more.
 */
export async function switchTypes(
  state: GenerationState,
  next: OpenGeneration,
  target: SwitchTarget,
): Promise<void> {
  const before = state.live;
  try {
    await untilShown(next.readSide, next.graph.position(), new AbortController().signal);
    // What it says is true of its own indices alone.
    await before.readSide?.announcing?.stop();
    await leadSearches(state, next.number, target);
  } catch (error) {
    before.readSide?.announcing?.start();
    await next.readSide?.close();
    next.graph.close();
    throw error;
  }
  state.live = next;
  state.isEarlier = false;
  next.readSide?.announcing?.start();
  retire(state, before);
  for (const resolve of state.onSwitch.splice(0)) resolve();
  keep(state, before.number, { graph: before.graph, readSide: undefined });
  await removeOlder(state, before.number).catch(() => {});
}

function retire(state: GenerationState, { readSide }: OpenGeneration): void {
  let timer: NodeJS.Timeout | undefined;
  state.closeRetired = async () => {
    clearTimeout(timer);
    state.closeRetired = async () => {};
    await readSide?.close();
  };
  timer = setTimeout(() => void state.closeRetired(), READ_FOR_MS).unref();
}
