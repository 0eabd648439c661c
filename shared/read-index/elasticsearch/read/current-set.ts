import type { IndexSet } from '../../index-set.ts';

/**
 * Index set that a process reads. The cluster's aliases name the live set, and the process reads the aliases from time to time. An answer
 * with several requests must read one set from first to last.
 */
export type CurrentSet = {
  /** Returns the known set, or a promise if that set is too old. Rejects if it is not available. */
  get(): IndexSet | Promise<IndexSet>;
  /** Reads the set from the cluster. */
  refresh(): Promise<IndexSet>;
  /** Uses this set from now on, even if the aliases name another one. The caller writes this set or moves the aliases. */
  fix(set: IndexSet): void;
  /** Uses the set that the aliases name from now on. */
  release(): void;
  /**
   * Keeps the current set, for a process that cannot read another. Once the aliases name another set, `refresh` rejects with
   * OtherSetIsLive; reads still work while the old indices exist. Rejects if the set is not available.
   */
  stay(): Promise<void>;
};

/** Error for live indices that are not the ones that this process must keep. */
export class OtherSetIsLive extends Error {
  constructor() {
    super('other indices are live now');
  }
}

/**
 * Ages in milliseconds: beyond the first, a read starts a refresh; beyond the second, it waits for one. The process that moves aliases
 * waits longer than the second.
 */
const YOUNG = 1_000;
const OLD = 2_000;

/** Creates a current set, which is read at the first `get`. `now` is in milliseconds and does not jump. */
export function createCurrentSet(read: () => Promise<IndexSet>, now: () => number): CurrentSet {
  let fixed: IndexSet | undefined;
  let own: IndexSet | undefined;
  let known: { readonly set: IndexSet; readonly at: number } | undefined;
  let asking: Promise<IndexSet> | undefined;
  const ask = async (): Promise<IndexSet> => {
    // The time is taken before the request, because the answer may show an older state than the time of its arrival.
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
