import type { GraphRelation } from './graph-relation.ts';

/** Slots of a link in its source's and its target's list. */
export type LinkOrder = { readonly sourceOrder: number; readonly targetOrder: number };

/** Ends of a link. Source and target are entries. */
export type LinkEnds = {
  readonly relation: GraphRelation;
  readonly source: number;
  /** 0, or the component of the source that owns the link. */
  readonly component: number;
  readonly target: number;
};

/** Returns whether a link is in the same slots at both ends, or absent in both cases. */
export function sameOrder(a: LinkOrder | null, b: LinkOrder | null): boolean {
  if (a === b) return true;
  return a !== null && b !== null && a.sourceOrder === b.sourceOrder && a.targetOrder === b.targetOrder;
}

const PAIR_BASE = 2 ** 26;

/** Returns one number for two keys, which is several times cheaper than a text. Keys beyond 2^26 give a text. */
export function pairKey(source: number, target: number): string | number {
  return source < PAIR_BASE && target < PAIR_BASE ? source * PAIR_BASE + target : `${source}/${target}`;
}
