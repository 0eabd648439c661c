import { setImmediate as nextTurn } from 'node:timers/promises';
import { searchOf } from '../../search/search-settings.ts';
import { type SearchRequest, WORLDS, type World } from '../read-index.ts';
import type { RowSpaceIndex } from './row-space.ts';
import type { Slices } from './slices.ts';
import { versionSpaces, worldSpace } from './spaces.ts';
import { readSome, type TextIndex, unreadRows } from './text-index.ts';
import { textIndexOf, type WordSearchState } from './word-search.ts';

/**
 * Reads the words of the types whose schemas name searches, in slices. Rows may change meanwhile, and a search may read them
 * itself. False when a pause said that there is no more to be done.
 */
export async function warmTexts(state: WordSearchState, slices: Slices): Promise<boolean> {
  const expected = versionSpaces(state.spaces).filter(
    ({ type }) => searchOf(state.spaces.registry, type).isExpected,
  );
  const indexes = new Set<TextIndex>();
  for (const world of WORLDS) {
    const inWorld = expected.filter(({ version }) => version === world || version === 'live');
    for (const space of inWorld) indexes.add(textIndexOf(state, space, worldOf(space, world)));
  }
  for (const index of indexes) if (!(await readWords(index, slices))) return false;
  return true;
}

function worldOf({ version }: RowSpaceIndex, world: World): World {
  return version === 'live' ? world : version;
}

/** A search reads as many rows itself. */
const FEW_ROWS = 1_000;
const ROWS_AT_ONCE = 16;
/** Somebody waits: as much as an answer gets at a time. */
const SLICE_MS = 3;

/**
 * Reads the words of a type before its first search: as part of that it would count for the time that an answer may take. Undefined
 * where there is little to read. Searches that come meanwhile wait for the same reading.
 */
export function readBeforeSearch(
  state: WordSearchState,
  { type, world, text }: SearchRequest,
  isOpen: () => boolean,
): Promise<unknown> | undefined {
  if (text === undefined) return undefined;
  const index = textIndexOf(state, worldSpace(state.spaces, type, world), world);
  if (unreadRows(index) <= FEW_ROWS) return undefined;
  const known = readings.get(index);
  if (known !== undefined) return known;
  const pause = async () => {
    await nextTurn();
    return isOpen();
  };
  const reading = readWords(index, { pause, sliceMs: SLICE_MS }).finally(() => readings.delete(index));
  readings.set(index, reading);
  return reading;
}

const readings = new WeakMap<TextIndex, Promise<boolean>>();

/** False when a pause said that there is no more to be done. */
async function readWords(index: TextIndex, { pause, sliceMs }: Slices): Promise<boolean> {
  while (unreadRows(index) > 0) {
    const until = performance.now() + sliceMs;
    do readSome(index, ROWS_AT_ONCE);
    while (unreadRows(index) > 0 && performance.now() < until);
    if (!(await pause())) return false;
  }
  return true;
}
