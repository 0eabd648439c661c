import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { OutsideIndices } from '../read-side.ts';

/** Removes the indices of a generation that is not live, if it has any. Throws a sentence where they cannot be reached. */
export async function removeIndices(
  { outside }: { readonly outside?: OutsideIndices | undefined },
  indices: IndexSet | undefined,
): Promise<void> {
  if (indices === undefined) return;
  if (outside === undefined)
    throw new Error('the generation has indices in Elasticsearch: say with --read-index where they are');
  await outside.remove(indices);
}
