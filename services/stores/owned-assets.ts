import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type OwnershipOptions, ownPlace, possessionOf } from './ownership.ts';

export type OwnedAssets = {
  /** The store for the process that leads: it takes and deletes nothing where another log does. */
  readonly store: AssetStore;
  /** Rejects with a sentence when the place is another log's. A store that is away is asked again before it is written to. */
  own(): Promise<void>;
};

/** Uploaded files as those of one log: a copy of it deletes what its own content does not name, which is not what others have. */
export function ownAssets(store: AssetStore, place: string, options: OwnershipOptions): OwnedAssets {
  const name = `the uploaded files in ${place.split('?', 1)[0]}`;
  const owned = { name, option: '--assets', store: store.owner };
  let isKnown = false;
  const learn = async (): Promise<string | undefined> => {
    const refusal = isKnown ? undefined : await ownPlace(owned, options);
    isKnown = refusal === undefined;
    return refusal;
  };
  const requireOwn = async (): Promise<void> => {
    const refusal = await learn();
    if (refusal !== undefined) throw new RequestError('assets-of-another-log', refusal);
  };
  return {
    store: {
      ...store,
      async stage(content, maxBytes) {
        await requireOwn();
        return store.stage(content, maxBytes);
      },
      async delete(hash) {
        await requireOwn();
        const possession = await possessionOf(owned, options);
        if (possession === 'sole') return store.delete(hash);
        // Equal files of two spaces are kept once: what one does not name the other may.
        if (possession === 'shared') return;
        throw new RequestError('assets-of-another-log', `${name} were taken over by another log`);
      },
    },
    async own() {
      isKnown = false;
      const refusal = await learn().catch((error: unknown) => {
        if (!(error instanceof RequestError)) throw error;
      });
      if (refusal !== undefined) throw new Error(refusal);
    },
  };
}
