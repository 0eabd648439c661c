import { type Client, errors, type estypes } from '@elastic/elasticsearch';
import { acknowledged } from './acknowledged.ts';
import { openProgressIndex, progressIndex } from './progress-document.ts';

/**
 * The cluster's own record of the leader: an alias of the progress's index with the newest epoch. A call that moves
 * aliases depends on it, so the cluster carries the call out as a whole or refuses it. So a leader that was paused in
 * the middle, and does not know of a newer claim, moves nothing. Epochs are not compared here: a log that was restored
 * counts on from an earlier one.
 */
export type LeaderFence = {
  /**
   * Refuses every other epoch from now on. `isNewest` returns whether the log has no newer claim; it is asked
   * before each attempt, as it alone decides. Returns false and does nothing if there is a newer claim.
   */
  raise(epoch: number, isNewest: () => Promise<boolean>): Promise<boolean>;
  /** The one that was raised last; 0 before the first. */
  newest(): Promise<number>;
};

/** Creates the fence of a namespace. It asks the cluster with each call. */
export function createLeaderFence(client: Client, space: string): LeaderFence {
  const index = progressIndex(space);
  const epochs = async (): Promise<readonly number[]> => {
    const found = await client.indices.getAlias({ name: `${space}-lead-*`, expand_wildcards: 'all' });
    return Object.keys(found[index]?.aliases ?? {}).map((alias) => Number(alias.split('-').at(-1)));
  };
  return {
    async raise(epoch, isNewest) {
      for (;;) {
        const before = await epochs();
        if (before.length === 0) await openProgressIndex(client, space);
        if (!(await isNewest())) return false;
        if (before.length === 1 && before[0] === epoch) return true;
        const actions = [
          ...before.map((each) => ({ remove: { index, alias: fenceAlias(space, each), must_exist: true } })),
          { add: { index, alias: fenceAlias(space, epoch) } },
        ];
        // Otherwise the alias changed: another process was faster.
        if (await updateAliases(client, actions)) return true;
      }
    },
    newest: async () => Math.max(0, ...(await epochs())),
  };
}

/**
 * Moves aliases in one call: no search sees a part of it, and it may be repeated after an answer was lost. Returns false and does
 * nothing if `epoch` is not the newest that raised the fence.
 */
export async function moveAliases(
  { client, space }: { readonly client: Client; readonly space: string },
  epoch: number,
  actions: readonly AliasAction[],
): Promise<boolean> {
  if (actions.length === 0) return true;
  return updateAliases(client, [...fenceActions(space, epoch), ...actions]);
}

type AliasAction = estypes.IndicesUpdateAliasesAction;

/** Resolves with false if the call was refused because of its epoch. */
async function updateAliases(client: Client, actions: AliasAction[]): Promise<boolean> {
  try {
    await acknowledged(client.indices.updateAliases({ actions }));
    return true;
  } catch (error) {
    if (isLeaderFenced(error)) return false;
    throw error;
  }
}

/** Actions that make a call of `_aliases` fail if this epoch is no longer the newest: see isFenced. */
export function fenceActions(space: string, epoch: number): readonly AliasAction[] {
  // Before the first leader no call can be refused.
  if (epoch === 0) return [];
  const at = { index: progressIndex(space), alias: fenceAlias(space, epoch) };
  return [{ remove: { ...at, must_exist: true } }, { add: at }];
}

/** Returns whether a call was refused because of its epoch. */
export function isLeaderFenced(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.body?.error?.type === 'aliases_not_found_exception';
}

function fenceAlias(space: string, epoch: number): string {
  return `${space}-lead-${epoch}`;
}
