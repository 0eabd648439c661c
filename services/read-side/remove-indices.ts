import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import type { OutsideIndices } from './outside-indices.ts';

/**
 * Removes the indices that only this generation uses. The generation must not be live. Throws a message if the indices cannot be reached.
 */
export async function removeIndices(
  store: Pick<GenerationStore, 'generations'>,
  number: number,
  outside: OutsideIndices | undefined,
): Promise<void> {
  const generations = store.generations();
  const { indices } = generations.find((each) => each.number === number) ?? {};
  if (indices === undefined) return;
  if (outside === undefined)
    throw new Error('the generation has indices in Elasticsearch: pass --read-index');
  const used = new Set(
    generations.flatMap((each) => (each.number === number ? [] : Object.values(each.indices ?? {}))),
  );
  await outside.remove(Object.fromEntries(Object.entries(indices).filter(([, index]) => !used.has(index))));
}
