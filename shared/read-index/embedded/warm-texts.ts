import { setImmediate as nextTurn } from 'node:timers/promises';
import { valueAt } from '../../map-values.ts';
import { searchOf } from '../../search/search-settings.ts';
import { type SearchRequest, WORLDS } from '../read-index.ts';
import { versionRowSets, worldRowSet } from './row-sets.ts';
import { saveTexts } from './save-texts.ts';
import { runInSlices, type Slices } from './slices.ts';
import { bringUpToDate, type TextIndex, unreadRows } from './text-index.ts';
import { textIndexOf, type WordSearchState } from './word-search.ts';

/**
 * Restores the stored words, and reads the words of types whose schemas configure searches, in slices. Rows may change in between, and a
 * search may read them itself. Resolves to false if a pause ended it.
 */
export async function warmTexts(state: WordSearchState, slices: Slices): Promise<boolean> {
  const { registry } = state.rowSets;
  const expected = textIndexes(state).filter(
    ({ name, rowSet }) => searchOf(registry, rowSet.type).isExpected || state.wordFiles?.has(name) === true,
  );
  for (const index of expected) {
    if (!(await readWords(index, slices))) return false;
    if (state.wordFiles !== undefined) await saveTexts(index, state.wordFiles, slices);
  }
  return true;
}

/** Returns the number of rows whose texts have changed since their words were read. */
export function countStaleRows({ texts }: WordSearchState): number {
  let rows = 0;
  for (const world of WORLDS) for (const { changed } of texts[world].values()) rows += changed.size;
  return rows;
}

/**
 * Reads the words of changed rows again, in slices, if an index has more than FEW_ROWS of them. The next search reads all other changed
 * rows.
 */
export function readChangedRows({ texts }: WordSearchState, startSlices: () => Slices): void {
  for (const world of WORLDS) {
    for (const index of texts[world].values()) {
      if (index.changed.size <= FEW_ROWS || rereadings.has(index)) continue;
      rereadings.add(index);
      // If this fails, the next search reads the words itself, and fails with the same error.
      readWords(index, startSlices())
        .catch(() => {})
        .finally(() => rereadings.delete(index));
    }
  }
}

const rereadings = new WeakSet<TextIndex>();

/** Stores the words of types if many rows were read since the last time. */
export async function saveWords({ wordFiles, texts }: WordSearchState, slices: Slices): Promise<void> {
  if (wordFiles === undefined) return;
  const indexes = WORLDS.flatMap((world) => [...texts[world].values()]);
  for (const index of indexes) {
    // If earlier slices ended while a type was being stored, the first call only waits for them.
    await saveTexts(index, wordFiles, slices);
    await saveTexts(index, wordFiles, slices);
  }
}

/** Returns the text indices of all types. */
function textIndexes(state: WordSearchState): readonly TextIndex[] {
  const indexes = WORLDS.flatMap((world) =>
    versionRowSets(state.rowSets)
      .filter(({ version }) => version === world || version === 'live')
      .map((rowSet) => textIndexOf(state, rowSet, world)),
  );
  return [...new Set(indexes)];
}

/** Number of rows up to which a search reads them itself. */
const FEW_ROWS = 1_000;
/** Milliseconds of a slice. A caller waits, so it is as long as that of an answer. */
const SLICE_MS = 3;

/**
 * Reads the words of a type before its first search. So the reading does not count against the answer's time limit. Returns undefined if
 * there is little to read. Searches that arrive in the meantime wait for the same reading.
 */
export function readBeforeSearch(
  state: WordSearchState,
  { type, world, text }: SearchRequest,
  isOpen: () => boolean,
): Promise<unknown> | undefined {
  if (text === undefined) return undefined;
  const index = textIndexOf(state, worldRowSet(state.rowSets, type, world), world);
  const pause = async () => {
    await nextTurn();
    return isOpen();
  };
  const slices = { pause, sliceMs: SLICE_MS };
  if (unreadRows(index) <= FEW_ROWS) {
    // The file only makes the next start faster.
    if (state.wordFiles !== undefined) saveTexts(index, state.wordFiles, slices).catch(() => {});
    return undefined;
  }
  return valueAt(readings, index, () => readWords(index, slices).finally(() => readings.delete(index)));
}

const readings = new WeakMap<TextIndex, Promise<boolean>>();

/** Reads words in slices. Resolves to false if a pause ended the work. */
async function readWords(index: TextIndex, slices: Slices): Promise<boolean> {
  // Rows may change during the last pause.
  while (unreadRows(index) > 0) if (!(await runInSlices(() => bringUpToDate(index), slices))) return false;
  return true;
}
