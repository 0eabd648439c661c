import type { Client, estypes } from '@elastic/elasticsearch';
import { droppedAlias, keptAlias, setAlias } from '../layout/index-names.ts';
import { deleteIndices } from './delete-indices.ts';
import { moveAliases } from './leader-fence.ts';

export type SweepOptions = {
  readonly client: Client;
  readonly space: string;
  /** Identity of this process's data directory. */
  readonly directory: string;
  /** Epoch of this leader. */
  readonly epoch: number;
  /** Returns the names of indices that the record of the data directory has. Called after the cluster was read. */
  readonly recorded: () => ReadonlySet<string>;
  /** True: also removes the indices that other data directories could roll back to. */
  readonly previousOfOthers: boolean;
};

export type Swept = {
  /** Indices that were removed. */
  readonly removed: readonly string[];
  /** All indices of the namespace that exist. */
  readonly existing: ReadonlySet<string>;
};

type Found = { readonly [index: string]: { readonly aliases?: Readonly<Record<string, unknown>> } };

/**
 * Removes the indices of attempts that no process continues: those that another data directory was building when this process became the
 * leader, and those that this directory's record has lost. The removal takes effect only while this process is the leader, and only on
 * indices that are not live. Indices that earlier releases made have no mark, and stay.
 */
export async function sweepSets(options: SweepOptions): Promise<Swept> {
  const { client, space, epoch } = options;
  const found: Found = await client.indices.getAlias({ index: `${space}-*`, expand_wildcards: 'all' });
  const recorded = options.recorded();
  const dropped = droppedAlias(space);
  const given = Object.entries(found).filter(
    ([index, { aliases = {} }]) => !recorded.has(index) && isForgotten(Object.keys(aliases), options),
  );
  const actions = given.flatMap(([index, { aliases = {} }]) =>
    dropActions(space, index, Object.keys(aliases)),
  );
  const isGivenUp = await moveAliases(options, epoch, actions);
  const before = Object.entries(found).filter(([, { aliases = {} }]) => dropped in aliases);
  const removed = [...before, ...(isGivenUp ? given : [])].map(([index]) => index);
  await deleteIndices(client, removed);
  const existing = new Set(Object.keys(found));
  for (const index of removed) existing.delete(index);
  return { removed, existing };
}

/** Returns whether an index with these aliases may be removed, as its directory does not use it. */
function isForgotten(
  aliases: readonly string[],
  { space, directory, previousOfOthers }: Pick<SweepOptions, 'space' | 'directory' | 'previousOfOthers'>,
): boolean {
  if (!aliases.includes(keptAlias(space))) return false;
  const has = (state: 'building' | 'previous') =>
    aliases.some((alias) => alias.startsWith(setAlias(space, state, '')));
  // An index keeps the mark of the directory that built it while another one switches over from it.
  if (!has('previous')) return has('building');
  return previousOfOthers || aliases.includes(setAlias(space, 'previous', directory));
}

/**
 * Returns the actions that give an index up. The cluster refuses them if the index has become live: a switch takes the mark of kept indices
 * away, and the node that was asked may not have heard of it yet.
 */
function dropActions(
  space: string,
  index: string,
  aliases: readonly string[],
): readonly estypes.IndicesUpdateAliasesAction[] {
  const marks = aliases.filter(
    (alias) => alias.startsWith(`${space}-building-`) || alias.startsWith(`${space}-previous-`),
  );
  return [
    { remove: { index, alias: keptAlias(space), must_exist: true } },
    ...marks.map((alias) => ({ remove: { index, alias, must_exist: false } })),
    { add: { index, alias: droppedAlias(space) } },
  ];
}
