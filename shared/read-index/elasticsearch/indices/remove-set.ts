import { type Client, errors, type estypes } from '@elastic/elasticsearch';
import type { IndexSet } from '../../index-set.ts';
import { droppedAlias, keptAlias } from '../layout/index-names.ts';
import { acknowledged, isBlocked } from './acknowledged.ts';
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
  const before = asked.filter((index) => has(index, droppedAlias(space)));
  const given = await giveUp(
    client,
    space,
    asked.filter((index) => !before.includes(index)),
  );
  await deleteIndices(client, [...before, ...given.dropped]);
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
  const answer = await dropMarks(client, space, indices);
  if (answer === 'dropped') return { dropped: indices, refused: [] };
  if (indices.length === 1) return { dropped: [], refused: answer === 'refused' ? [index] : [] };
  const middle = Math.ceil(indices.length / 2);
  const first = await giveUp(client, space, indices.slice(0, middle));
  const second = await giveUp(client, space, indices.slice(middle));
  return {
    dropped: [...first.dropped, ...second.dropped],
    refused: [...first.refused, ...second.refused],
  };
}

/** Marks all of these indices as dropped in one call, or none. */
async function dropMarks(
  client: Client,
  space: string,
  indices: readonly string[],
): Promise<'dropped' | 'refused' | 'missing'> {
  const actions = indices.flatMap((index): estypes.IndicesUpdateAliasesAction[] => [
    { remove: { index, alias: keptAlias(space), must_exist: true } },
    { add: { index, alias: droppedAlias(space) } },
  ]);
  const drop = () => acknowledged(client.indices.updateAliases({ actions }));
  try {
    await drop().catch(async (error: unknown) => {
      if (!isBlocked(error)) throw error;
      // A full disk blocks changes of aliases, but not the deletions that make space.
      await client.indices.putSettings({
        index: [...indices],
        settings: { 'index.blocks.read_only_allow_delete': null },
        ignore_unavailable: true,
      });
      await drop();
    });
    return 'dropped';
  } catch (error) {
    const type = error instanceof errors.ResponseError ? error.body?.error?.type : undefined;
    if (type === 'aliases_not_found_exception') return 'refused';
    if (type === 'index_not_found_exception') return 'missing';
    throw error;
  }
}
