import { wrapBigint } from '../../../json.ts';
import type { BoolQuery } from '../../bool-query.ts';
import type { World } from '../../read-index.ts';
import { type Bits, hasBit, wordsFor } from '../lists/bits.ts';
import { isUnchanged, takeAffected, type WatchedChanges } from '../rows/row-changes.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import type { RowSets } from '../rows/row-sets.ts';
import { bytesOfRows, type KeptRows, keepRows, matchKept, testAgain } from './kept-rows.ts';
import type { Matcher } from './matcher.ts';
import { watchQuery } from './watch-query.ts';

/**
 * Rows that match queries or parts of queries, kept across requests and writes. A set is made when queries have lost the time without it
 * that it costs. The next reader after a change tests the affected rows again. The least recently used sets are dropped when all together
 * take too many bytes.
 */
export type KeptSets = {
  readonly sets: Map<string, KeptSet>;
  readonly maxBytes: number;
  /** Nanoseconds of collecting rows from which they are kept. 0: all are kept at once. */
  readonly keepFrom: number;
  bytes: number;
  /** Number of changes of the index. A set is made in one state. */
  changes: number;
};

type KeptSet = {
  readonly rowSet: RowSetIndex;
  rows: KeptRows | undefined;
  watched: readonly WatchedChanges[];
  /** Approximate nanoseconds that queries have lost without the rows. */
  missed: number;
  making: { readonly bits: Bits; readonly matcher: Matcher; readonly changes: number } | undefined;
};

export type KeepingContext = { readonly rowSets: RowSets; readonly kept: KeptSets; readonly world: World };

const DEFAULT_BYTES = 64 * 2 ** 20;
const DEFAULT_KEEP_FROM = 3_000;
/** Approximate bytes of a set without its rows and its name. */
const SET_OVERHEAD = 512;
/** Maximum characters of a query whose rows are kept. */
const LONGEST_NAME = 4_096;

/** Creates the state without sets. */
export function createKeptSets(keepFrom = DEFAULT_KEEP_FROM, maxBytes = DEFAULT_BYTES): KeptSets {
  return { sets: new Map(), maxBytes, keepFrom, bytes: 0, changes: 0 };
}

/** Returns a matcher of the kept rows of a query, or the one that `bind` returns while they are not kept. */
export function bindKept(
  context: KeepingContext,
  rowSet: RowSetIndex,
  query: BoolQuery,
  bind: () => Matcher,
): Matcher {
  const { kept } = context;
  const name = `${rowSet.number} ${context.world} ${nameOf(query)}`;
  if (name.length > LONGEST_NAME) return bind();
  const known = kept.sets.get(name);
  const rows = known && currentRows(kept, known, bind);
  if (rows !== undefined) {
    renew(kept, name, known as KeptSet);
    return matchKept(rows);
  }
  const matcher = bind();
  if (known === undefined && matcher.cost < kept.keepFrom) return matcher;
  const set = known ?? createSet(rowSet, kept.keepFrom);
  renew(kept, name, set);
  if (set.missed < matcher.cost) return counting(set, matcher);
  return matchKept(makeRows(context, set, query, matcher));
}

function counting(set: KeptSet, matcher: Matcher): Matcher {
  const missed = (cost: number) => {
    set.missed += cost;
  };
  return { ...matcher, missed };
}

function createSet(rowSet: RowSetIndex, keepFrom: number): KeptSet {
  const missed = keepFrom === 0 ? Number.POSITIVE_INFINITY : 0;
  return { rowSet, rows: undefined, watched: [], missed, making: undefined };
}

/** Makes a set the one that was used last. */
function renew(kept: KeptSets, name: string, set: KeptSet): void {
  if (kept.sets.delete(name) === false) kept.bytes += SET_OVERHEAD + 2 * name.length;
  kept.sets.set(name, set);
  if (kept.bytes > kept.maxBytes) evict(kept, set);
}

function evict(kept: KeptSets, newest: KeptSet): void {
  for (const [name, set] of kept.sets) {
    if (kept.bytes <= kept.maxBytes || set === newest) return;
    drop(kept, set);
    kept.bytes -= SET_OVERHEAD + 2 * name.length;
    kept.sets.delete(name);
  }
}

/** Returns the rows in the current state of the index; undefined if they are not kept, or if too many changes have affected them. */
function currentRows(kept: KeptSets, set: KeptSet, bind: () => Matcher): KeptRows | undefined {
  if (set.rows === undefined || isUnchanged(set.watched)) return set.rows;
  const { rowSet } = set;
  const affected = takeAffected(set.watched, mostAffected(rowSet));
  const before = set.rows;
  drop(kept, set);
  if (affected === undefined) return undefined;
  const { test } = bind();
  const isMatch = (row: number) => hasBit(rowSet.present, row) && test(row);
  // A slice that ends here leaves no rows: the next one would begin with the first row again.
  const rows = affected.size === 0 ? before : testAgain(before, affected, isMatch, rowSet.size);
  return keep(kept, set, rows);
}

/** Returns how many rows are tested again. For more of them, collecting all rows may cost less. */
function mostAffected({ count }: RowSetIndex): number {
  return 64 + count / 64;
}

/** Collects the rows. If a call ends with its slice, the next call continues, unless the index has changed. */
function makeRows(context: KeepingContext, set: KeptSet, query: BoolQuery, matcher: Matcher): KeptRows {
  const { kept } = context;
  const { rowSet } = set;
  if (set.making?.changes !== kept.changes)
    set.making = { bits: new Int32Array(wordsFor(rowSet.size)), matcher, changes: kept.changes };
  set.making.matcher.collect(set.making.bits);
  const rows = keepRows(set.making.bits);
  set.making = undefined;
  set.watched = watchQuery(context, rowSet, query);
  return keep(kept, set, rows);
}

function keep(kept: KeptSets, set: KeptSet, rows: KeptRows): KeptRows {
  set.rows = rows;
  kept.bytes += bytesOfRows(rows);
  return rows;
}

function drop(kept: KeptSets, set: KeptSet): void {
  if (set.rows === undefined) return;
  kept.bytes -= bytesOfRows(set.rows);
  set.rows = undefined;
  set.missed = 0;
}

function nameOf(query: BoolQuery): string {
  try {
    const name = JSON.stringify(query);
    // Without a replacer it takes a third of the time, but writes every number that is not finite as null.
    if (!name.includes('null')) return name;
  } catch {
    // A bigint.
  }
  return JSON.stringify(query, wrapNumber);
}

function wrapNumber(key: string, value: unknown): unknown {
  const isWritten = typeof value !== 'number' || Number.isFinite(value);
  return isWritten ? wrapBigint(key, value) : { number: String(value) };
}
