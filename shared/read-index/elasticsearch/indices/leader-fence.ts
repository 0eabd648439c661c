import { type Client, errors, type estypes } from '@elastic/elasticsearch';
import { acknowledged } from './acknowledged.ts';
import { openProgressIndex, progressIndex } from './progress-document.ts';
import type { Namespace } from './read-indices.ts';

/**
 * The cluster's own record of the leader: an alias of the progress index with the newest epoch. A call that moves aliases depends on it, so
 * the cluster either carries out the whole call or refuses it. So a leader that was paused and does not know of a newer claim cannot move
 * aliases. Epochs are not compared here, because a restored log continues from an earlier epoch.
 */
export type LeaderFence = {
  /**
   * Refuses all other epochs from now on. `isNewest` returns whether the log has no newer claim. It is called before each attempt, because
   * only the log decides. Returns false and does nothing if there is a newer claim.
   */
  raise(epoch: number, isNewest: () => Promise<boolean>): Promise<boolean>;
  /** Returns the epoch that was raised last; 0 before the first. */
  newest(): Promise<number>;
};

/** Creates the fence of a namespace. Each call asks the cluster. */
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
        // If the call is refused, another process changed the alias first. The loop tries again.
        if (await updateAliases(client, actions)) return true;
      }
    },
    newest: async () => Math.max(0, ...(await epochs())),
  };
}

/**
 * Moves aliases in one call, so that no search sees only a part of the change. It may be repeated after a lost answer. Returns false and
 * does nothing if another epoch has raised the fence since.
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

/** Updates aliases. Resolves to false if the call was refused because of its epoch. */
async function updateAliases(client: Client, actions: AliasAction[]): Promise<boolean> {
  try {
    await acknowledged(client.indices.updateAliases({ actions }));
    return true;
  } catch (error) {
    if (isLeaderFenced(error)) return false;
    throw error;
  }
}

/** Returns actions that make a call of `_aliases` fail if another epoch has raised the fence since (see isLeaderFenced). */
export function fenceActions(space: string, epoch: number): readonly AliasAction[] {
  // No call can be refused before the first leader.
  if (epoch === 0) return [];
  const at = { index: progressIndex(space), alias: fenceAlias(space, epoch) };
  return [{ remove: { ...at, must_exist: true } }, { add: at }];
}

/** Returns whether a call was refused because of its epoch. */
export function isLeaderFenced(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.body?.error?.type === 'aliases_not_found_exception';
}

/** Returns whether a node that gave this answer knew that the leader of an epoch had raised the fence. */
export function hasFence(space: string, epoch: number, found: Namespace): boolean {
  return epoch === 0 || found[progressIndex(space)]?.aliases?.[fenceAlias(space, epoch)] !== undefined;
}

function fenceAlias(space: string, epoch: number): string {
  return `${space}-lead-${epoch}`;
}
