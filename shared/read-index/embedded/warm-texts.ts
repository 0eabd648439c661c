import { setImmediate as nextTurn } from 'node:timers/promises';
import { valueAt } from '../../map-values.ts';
import { runInSlices, type Slices } from '../../turns/slices.ts';
import { type SearchRequest, WORLDS } from '../read-index.ts';
import { versionRowSets, worldRowSet } from './rows/row-sets.ts';
import { textIndexOf, type WordSearchState } from './search/word-search.ts';
import { bringUpToDate, type TextIndex, unreadRows } from './words/text-index.ts';

/**
 * Reads the words of all rows, in slices. Rows may change in between, and a search may read them itself. Resolves to false if a pause ended
 * it.
 */
export async function warmTexts(state: WordSearchState, slices: Slices): Promise<boolean> {
  for (const index of textIndexes(state)) if (!(await readWords(index, slices))) return false;
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

/** Returns the text indices of all types. Most searches are for published rows. */
function textIndexes(state: WordSearchState): readonly TextIndex[] {
  const indexes = WORLDS.toReversed().flatMap((world) =>
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
  if (unreadRows(index) <= FEW_ROWS) return undefined;
  return valueAt(readings, index, () => readWords(index, slices).finally(() => readings.delete(index)));
}

const readings = new WeakMap<TextIndex, Promise<boolean>>();

/** Reads words in slices, until few are left. Rows may change all the time. Resolves to false if a pause ended the work. */
async function readWords(index: TextIndex, slices: Slices): Promise<boolean> {
  do if (!(await runInSlices(() => bringUpToDate(index), slices))) return false;
  while (unreadRows(index) > FEW_ROWS);
  return true;
}
