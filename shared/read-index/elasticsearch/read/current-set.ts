import type { IndexSet } from '../../index-set.ts';

/**
 * The set of indices that a process reads. Which one is live is said by the cluster's aliases, and asked now and then: an answer
 * that takes several requests has to read one set from first to last.
 */
export type CurrentSet = {
  /** What is known; a promise where that is too old to be used. Rejects when it cannot be had. */
  get(): IndexSet | Promise<IndexSet>;
  /** Asks the cluster. */
  refresh(): Promise<IndexSet>;
  /** From now on it is this one, whatever the aliases say: whoever calls this writes it, or moves them. */
  fix(set: IndexSet): void;
  /** From now on it is what the aliases say. */
  release(): void;
  /**
   * From now on it is the one that is known by now: for whoever could not read another. Once the aliases say otherwise `refresh`
   * rejects with OtherSetIsLive; what is read goes on being found as long as its indices are kept. Rejects when it cannot be had.
   */
  hold(): Promise<void>;
};

/** Other indices are live than those that a process holds on to. */
export class OtherSetIsLive extends Error {
  constructor() {
    super('other indices are live by now');
  }
}

/** Milliseconds after which it is asked for beside a read, and before one. Whoever moves aliases waits longer than the latter. */
const YOUNG = 1_000;
const OLD = 2_000;

export function createCurrentSet(read: () => Promise<IndexSet>, now: () => number): CurrentSet {
  let fixed: IndexSet | undefined;
  let held: IndexSet | undefined;
  let known: { readonly set: IndexSet; readonly at: number } | undefined;
  let asking: Promise<IndexSet> | undefined;
  const ask = async (): Promise<IndexSet> => {
    // What was asked for before is not newer than this moment.
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
      if (held === undefined) return fixed ?? ask();
      if (!isSame(held, await read())) throw new OtherSetIsLive();
      return held;
    },
    fix(set) {
      fixed = set;
    },
    release() {
      fixed = undefined;
      known = undefined;
    },
    async hold() {
      held = known?.set ?? (await askOnce());
      fixed = held;
    },
  };
}

function isSame(a: IndexSet, b: IndexSet): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((alias) => a[alias] === b[alias]);
}
