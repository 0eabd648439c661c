import type { IndexSet } from '../../index-set.ts';

/**
 * Index set that a process reads. The cluster's aliases name the live one; the process asks for them now and then. An
 * answer with several requests has to read one set from first to last.
 */
export type CurrentSet = {
  /** Returns the known set, or a promise if that is too old. Rejects if it is not available. */
  get(): IndexSet | Promise<IndexSet>;
  /** Asks the cluster. */
  refresh(): Promise<IndexSet>;
  /** Uses this set from now on, whatever the aliases say: the caller writes it, or moves them. */
  fix(set: IndexSet): void;
  /** Follows the aliases from now on. */
  release(): void;
  /**
   * Stays on the current set from now on, for a process that cannot read another. Once the aliases name another set,
   * `refresh` rejects with OtherSetIsLive; reads still work while the old indices exist. Rejects if the set is not
   * available.
   */
  stay(): Promise<void>;
};

/** The live indices are not those that this process stays on. */
export class OtherSetIsLive extends Error {
  constructor() {
    super('other indices are live now');
  }
}

/**
 * Ages in milliseconds at which the set is refreshed during a read, and before one. The process that moves aliases
 * waits longer than the latter.
 */
const YOUNG = 1_000;
const OLD = 2_000;

/** Creates a set that is read at the first `get`. `now` is in milliseconds and does not jump. */
export function createCurrentSet(read: () => Promise<IndexSet>, now: () => number): CurrentSet {
  let fixed: IndexSet | undefined;
  let own: IndexSet | undefined;
  let known: { readonly set: IndexSet; readonly at: number } | undefined;
  let asking: Promise<IndexSet> | undefined;
  const ask = async (): Promise<IndexSet> => {
    // An answer to an earlier request may be older than this time.
    const at = now();
    const set = await read();
    if (known === undefined || known.at <= at) known = { set, at };
    return set;
  };
  const askOnce = (): Promise<IndexSet> => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  return {
    get() {
      if (fixed !== undefined) return fixed;
      const age = known === undefined ? OLD : now() - known.at;
      if (age >= OLD || known === undefined) return askOnce();
      if (age >= YOUNG) askOnce().catch(() => {});
      return known.set;
    },
    async refresh() {
      if (own === undefined) return fixed ?? ask();
      if (!isSame(own, await read())) throw new OtherSetIsLive();
      return own;
    },
    fix(set) {
      fixed = set;
    },
    release() {
      fixed = undefined;
      known = undefined;
    },
    async stay() {
      own = known?.set ?? (await askOnce());
      fixed = own;
    },
  };
}

function isSame(a: IndexSet, b: IndexSet): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((alias) => a[alias] === b[alias]);
}
