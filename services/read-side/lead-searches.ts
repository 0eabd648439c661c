import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { GenerationState } from './generation-state.ts';
import type { DocumentSets, ReadSide } from './read-side.ts';

const LOOK_EVERY_MS = 500;

/** The indices that searches are to be led to. */
export type SwitchTarget = {
  readonly set: IndexSet;
  readonly sets: DocumentSets;
  /** In which this process leads, or the newest where nobody does. */
  readonly epoch: number;
};

export const NOT_LEADING =
  'another process writes the documents in Elasticsearch: run the command where the data directory of the leader is';

/**
 * Leads searches to the indices of a generation, which is the live one from then on. The commit is the cluster's: a process that
 * is killed here asks it, see `finishSwitch`. Rejects with a sentence where another process leads by now.
 */
export async function leadSearches(
  { store }: GenerationState,
  number: number,
  { set, sets, epoch }: SwitchTarget,
): Promise<void> {
  store.noteIndices(store.live().number, await sets.live());
  store.markSwitch(number);
  if (await sets.promote(set, epoch)) return store.setLive(number);
  store.markSwitch(undefined);
  throw new Error(NOT_LEADING);
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
