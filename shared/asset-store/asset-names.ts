import { hash as digest } from 'node:crypto';
import { checkedHash } from './asset-hash.ts';
import type { AssetNames, NamedContent } from './asset-store.ts';

/** Reads and writes the small texts in which a store keeps names, by path. */
export type NameFiles = {
  read(path: string): Promise<string | undefined>;
  /** Writes durably, and completely or not at all. */
  write(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  hasAny(folder: string): Promise<boolean>;
};

/**
 * Creates the names of a store. The text `<SHA-256 of the name>` says which content has the name. `of/<hash>/<SHA-256 of the name>` is an
 * empty text that marks content as named. It is written first and removed last, so named content never looks unnamed.
 */
export function createAssetNames(files: NameFiles): AssetNames {
  const pathOf = (name: string) => digest('sha256', name);
  const marksOf = (hash: string) => `of/${checkedHash(hash)}`;
  const markOf = (hash: string, name: string) => `${marksOf(hash)}/${pathOf(name)}`;
  const find = async (name: string): Promise<NamedContent | undefined> => {
    const text = await files.read(pathOf(name));
    if (text === undefined) return undefined;
    const { hash, mime } = JSON.parse(text) as NamedContent;
    return { hash, mime };
  };
  return {
    find,
    async give(name, { hash, mime }) {
      const before = await find(name);
      await files.write(markOf(hash, name), '');
      await files.write(pathOf(name), JSON.stringify({ name, hash, mime }));
      if (before !== undefined && before.hash !== hash) await files.remove(markOf(before.hash, name));
    },
    async take(name) {
      const before = await find(name);
      if (before === undefined) return;
      await files.remove(pathOf(name));
      await files.remove(markOf(before.hash, name));
    },
    isNamed: (hash) => files.hasAny(marksOf(hash)),
  };
}
