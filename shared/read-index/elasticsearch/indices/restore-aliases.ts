import type { Client, estypes } from '@elastic/elasticsearch';
import type { IndexSet } from '../../index-set.ts';
import { writeAlias } from '../layout/index-names.ts';
import { moveAliases } from './leader-fence.ts';

/**
 * Gives the aliases of a set to its indices, and takes them from all others. Resolves with false and does nothing if another epoch has
 * raised the fence since. Rejects if an index of the set does not exist.
 */
export async function restoreAliases(
  { client, space }: { readonly client: Client; readonly space: string },
  set: IndexSet,
  epoch: number,
): Promise<boolean> {
  const found = await client.indices.getAlias({ index: `${space}-*`, expand_wildcards: 'all' });
  const actions = Object.entries(set).flatMap(([alias, index]): estypes.IndicesUpdateAliasesAction[] => {
    const has = found[index]?.aliases ?? {};
    const others = Object.keys(found).filter(
      (other) => other !== index && found[other]?.aliases?.[alias] !== undefined,
    );
    return [
      ...others.map((other) => ({ remove: { index: other, alias, must_exist: false } })),
      // Elasticsearch made it for the deletion of a document while the alias was gone.
      ...(found[writeAlias(index)] === undefined ? [] : [{ remove_index: { index: writeAlias(index) } }]),
      ...[alias, writeAlias(index)].flatMap((each) =>
        has[each] === undefined ? [{ add: { index, alias: each } }] : [],
      ),
    ];
  });
  return moveAliases({ client, space }, epoch, actions);
}
