import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type OwnershipOptions, ownerStateOf, ownStore } from './ownership.ts';

export type OwnedAssets = ReturnType<typeof ownAssets>;

/** Protects the uploaded files of a log from other logs: a copy of the log would delete files that it does not name. */
export function ownAssets(store: AssetStore, address: string, options: OwnershipOptions) {
  const name = `the uploaded files in ${address.split('?', 1)[0]}`;
  const owned = { name, option: '--assets', store: store.owner };
  let isKnown = false;
  const learn = async (): Promise<string | undefined> => {
    const refusal = isKnown ? undefined : await ownStore(owned, options);
    isKnown = refusal === undefined;
    return refusal;
  };
  const requireOwn = async (): Promise<void> => {
    const refusal = await learn();
    if (refusal !== undefined) throw new RequestError('assets-of-another-log', refusal);
  };
  return {
    /** Asset store for the leader. It writes and deletes nothing if the store belongs to another log. */
    store: {
      ...store,
      async stage(content, maxBytes) {
        await requireOwn();
        return store.stage(content, maxBytes);
      },
      async delete(hash) {
        await requireOwn();
        const possession = await ownerStateOf(owned, options);
        if (possession === 'sole') return store.delete(hash);
        // Equal files of two namespaces are stored once: the other namespace may name files that this one does not.
        if (possession === 'shared') return;
        throw new RequestError('assets-of-another-log', `${name} were taken over by another log`);
      },
    } satisfies AssetStore as AssetStore,
    /**
     * Rejects with a message if the store belongs to another log. If the store is unreachable now, its owner is checked before the first
     * write.
     */
    async own() {
      isKnown = false;
      const refusal = await learn().catch((error: unknown) => {
        if (!(error instanceof RequestError)) throw error;
      });
      if (refusal !== undefined) throw new Error(refusal);
    },
  };
}
