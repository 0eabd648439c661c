import { contentTypeOf } from '../../schema/schema-registry.ts';
import { searchSettingsOf } from '../../search/search-settings.ts';
import { inSlices, type Slices } from './slices.ts';
import { counterpart, versionSpaces } from './spaces.ts';
import { readUpTo } from './text-index.ts';
import { textIndexOf, type WordSearchState } from './word-search.ts';

/**
 * Reads the words of the types whose schemas speak of searches, and of those that were searched in `like`, in slices. Rows may
 * change meanwhile, and a search may read them itself. False when a pause said that there is no more to be done.
 */
export async function warmTexts(
  state: WordSearchState,
  like: WordSearchState | undefined,
  slices: Slices,
): Promise<boolean> {
  const searched = [...(like?.texts.keys() ?? [])].flatMap((space) => counterpart(state.spaces, space) ?? []);
  const expected = versionSpaces(state.spaces).filter(
    ({ type }) => searchSettingsOf(contentTypeOf(state.spaces.registry, type)).isExpected,
  );
  for (const space of new Set([...searched, ...expected])) {
    const index = textIndexOf(state, space);
    const isDone = await inSlices(
      () => space.size,
      (_, end) => readUpTo(index, end),
      slices,
    );
    if (!isDone) return false;
  }
  return true;
}
