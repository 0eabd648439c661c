import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { DocumentSets, ReadSide } from '../read-side.ts';
import type { GenerationState } from './generation-state.ts';

const LOOK_EVERY_MS = 500;

/**
 * Leads searches to the indices of a generation, which is the live one from then on. The commit is the cluster's: a process that
 * is killed here asks it, see `finishSwitch`.
 */
export async function leadSearches(
  { store }: GenerationState,
  number: number,
  set: IndexSet,
  sets: DocumentSets,
): Promise<void> {
  store.noteIndices(store.live().number, await sets.live());
  store.markSwitch(number);
  await sets.promote(set);
  store.setLive(number);
}

/** Resolves when reads show the position. Rejects when the signal is aborted, or the index cannot be kept level any more. */
export async function untilShown(
  readSide: ReadSide | undefined,
  position: bigint,
  signal: AbortSignal,
): Promise<void> {
  if (readSide?.shows === undefined) return;
  for (;;) {
    signal.throwIfAborted();
    const isShown = await Promise.race([
      readSide.shows(position, LOOK_EVERY_MS),
      readSide.done.then(() => false),
    ]);
    if (isShown) return;
  }
}
