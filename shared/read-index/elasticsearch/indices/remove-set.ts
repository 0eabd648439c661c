import { type Client, errors, type estypes } from '@elastic/elasticsearch';
import type { IndexSet } from '../../index-set.ts';
import { droppedAlias, keptAlias } from '../layout/index-names.ts';
import { acknowledged } from './acknowledged.ts';
import { deleteIndices } from './delete-indices.ts';

type AliasesByIndex = { readonly [index: string]: { readonly aliases?: Readonly<Record<string, unknown>> } };

/**
 * Removes the indices of a set that searches do not find. Indices without the mark of kept ones stay: the next leader removes leftovers.
 * Rejects if an index became live and the node that was asked first does not know it yet. Nothing of such an index is removed.
 */
export async function removeSet(client: Client, space: string, set: IndexSet): Promise<void> {
  const found: AliasesByIndex = await client.indices.getAlias({
    index: `${space}-*`,
    expand_wildcards: 'all',
  });
  const has = (index: string, alias: string) => found[index]?.aliases?.[alias] !== undefined;
  const asked = Object.entries(set).flatMap(([alias, index]) => (has(index, alias) ? [] : [index]));
  const given = await giveUp(client, space, asked);
  await deleteIndices(client, given.dropped);
  const [live] = given.refused.filter((index) => found[index] === undefined || has(index, keptAlias(space)));
  if (live !== undefined)
    throw new Error(
      `Elasticsearch does not give ${live} up: it is live, and a node does not know it yet. Run the command again`,
    );
}

type GivenUp = { readonly dropped: readonly string[]; readonly refused: readonly string[] };

/**
 * Marks kept indices as dropped. The master of the cluster decides: a switch takes the mark of kept indices away, so an index that became
 * live is refused, whatever a node still says. Omits missing indices.
 */
async function giveUp(client: Client, space: string, indices: readonly string[]): Promise<GivenUp> {
  const [index] = indices;
  if (index === undefined) return { dropped: [], refused: [] };
  const [kept, dropped] = [keptAlias(space), droppedAlias(space)];
  if ((await changeMark(client, indices, kept, dropped)) === 'done') return { dropped: indices, refused: [] };
  if (indices.length === 1) {
    // An earlier attempt may have marked it: its answer may have been lost.
    const answer = await changeMark(client, indices, dropped, dropped);
    return { dropped: answer === 'done' ? indices : [], refused: answer === 'refused' ? [index] : [] };
  }
  const middle = Math.ceil(indices.length / 2);
  const first = await giveUp(client, space, indices.slice(0, middle));
  const second = await giveUp(client, space, indices.slice(middle));
  return {
    dropped: [...first.dropped, ...second.dropped],
    refused: [...first.refused, ...second.refused],
  };
}

/** Replaces an alias of all these indices in one call. Changes nothing if one of them does not have it, or does not exist. */
async function changeMark(
  client: Client,
  indices: readonly string[],
  from: string,
  to: string,
): Promise<'done' | 'refused' | 'missing'> {
  const actions = indices.flatMap((index): estypes.IndicesUpdateAliasesAction[] => [
    { remove: { index, alias: from, must_exist: true } },
    { add: { index, alias: to } },
  ]);
  try {
    await acknowledged(client.indices.updateAliases({ actions }));
    return 'done';
  } catch (error) {
    const type = error instanceof errors.ResponseError ? error.body?.error?.type : undefined;
    if (type === 'aliases_not_found_exception') return 'refused';
    if (type === 'index_not_found_exception') return 'missing';
    throw error;
  }
}
