import type { DocumentCount } from '../../projections/graph/stale/counted-documents.ts';
import { type Backoff, backoffMs } from '../../shared/backoff.ts';
import type { ObservedContent } from '../../shared/read-index/elasticsearch/indices/observe-indices.ts';
import { worldOfAlias } from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { lose, type Remade, type WatchState } from './watch-state.ts';

/** Waits before an index is made again whose count was not right after the last time, and differs as it did then. */
const AGAIN: Backoff = { firstMs: 600_000, longestMs: 86_400_000 };

/** Maximum attempts without such a wait, if the count differs in another way each time. */
const MOST_AT_ONCE = 3;

/** An index, and how many documents it should have. */
type Counted = {
  readonly alias: string;
  readonly index: string;
  readonly type: Uid;
  readonly expected: DocumentCount;
  /** State of the index and of the graph. Equal states before and after a count have the same documents. */
  readonly state: string;
};

/**
 * Compares the number of documents in each index with the rows of the graph, and records a fault if another program has deleted or added some.
 * Returns whether it has. It sends nothing for an index that has carried out no write since it was right.
 *
 * A good index must never count as wrong. So an index is compared only if it shows every change of its type, and if neither it nor the graph
 * has changed during the count. The same difference must be found in two looks, the second one after a refresh, by a process that is
 * the leader afterwards. A type that is written all the time is compared in the first pause.
 */
export async function countDocuments(state: WatchState): Promise<boolean> {
  const { counts, signal } = state;
  const suspected = new Map(counts.suspected);
  counts.suspected.clear();
  const due = countable(state, state.contents).filter((each) => counts.right.get(each.index) !== each.state);
  if (due.length === 0) return false;
  // Where searches fail, reads are refused, and say why.
  const looked = await countAll(state, due, suspected).catch(() => undefined);
  if (looked === undefined || signal.aborted) return false;
  const { found, contents } = looked;
  const after = new Map(countable(state, contents).map((each) => [each.index, each.state]));
  const wrong = due.flatMap((each, at) => {
    const difference = differenceOf(each, after.get(each.index), found[at]);
    if (difference === 0) noteRight(state, each);
    if (difference === undefined || difference === 0) return [];
    counts.suspected.set(each.index, difference);
    return difference === suspected.get(each.index) ? { ...each, difference } : [];
  });
  // The documents may be those of a leader after this one.
  if (wrong.length === 0 || !(await state.isNewest(state.epoch)) || signal.aborted) return false;
  return wrong.filter((each) => noteWrong(state, each)).length > 0;
}

/**
 * Returns how many documents too many an index has; a negative number if it lacks some. undefined: nothing can be said, because the index or
 * the graph has changed during the count. `after`: their state then. Pure.
 */
export function differenceOf(
  { expected: { least, most }, state }: Pick<Counted, 'expected' | 'state'>,
  after: string | undefined,
  found: number | undefined,
): number | undefined {
  if (found === undefined || after !== state) return undefined;
  if (found < least) return found - least;
  return found > most ? found - most : 0;
}

/** Returns the indices that show every change of their type now. */
function countable(state: WatchState, contents: WatchState['contents']): readonly Counted[] {
  const { cluster, written, faults, stale, lost, making } = state;
  if (lost.size > 0 || making !== undefined) return [];
  return [...written].flatMap(([alias, { index }]) => {
    const type = cluster.watched.aliases.get(alias);
    const content = contents.get(index);
    if (type === undefined || content?.isOpen !== true || !content.isAssigned) return [];
    if (faults.some((each) => each.type === type)) return [];
    const expected = stale.counted(type, worldOfAlias(alias));
    if (expected === undefined) return [];
    return [{ alias, index, type, expected, state: nameOf(content, expected) }];
  });
}

function nameOf(
  { uuid, histories, operations, nodes }: ObservedContent,
  { least, most }: DocumentCount,
): string {
  return [uuid, histories, nodes, operations, least, most].join(' ');
}

type Looked = {
  readonly found: readonly (number | undefined)[];
  readonly contents: WatchState['contents'];
};

/** Counts, and observes the indices after that. */
async function countAll(
  state: WatchState,
  due: readonly Counted[],
  suspected: ReadonlyMap<string, number>,
): Promise<Looked> {
  const { observer } = state.cluster.watched;
  await observer.refresh(due.flatMap(({ index }) => (suspected.has(index) ? index : [])));
  const found = await observer.count(due.map(({ index }) => index));
  return { found, contents: await observer.contents() };
}

function noteRight({ counts }: WatchState, { alias, index, state }: Counted): void {
  counts.right.set(index, state);
  counts.remade.delete(alias);
}

/**
 * Records the fault. Returns false if the index was made again a moment ago: its next copy would have the same difference. Another difference
 * comes from another program, which has written the new index before its first count.
 */
function noteWrong(state: WatchState, wrong: Counted & { readonly difference: number }): boolean {
  const { counts, report } = state;
  const { alias, index, type, difference } = wrong;
  const count = Math.abs(difference);
  const documents = `${count} ${count === 1 ? 'document' : 'documents'}`;
  const does = difference < 0 ? `lacks ${documents}` : `has ${documents} too many`;
  const reason = `its index ${index} ${does}: another program has written it`;
  const before = counts.remade.get(alias);
  const now = performance.now();
  if (before !== undefined && mustWait(before, difference, now)) {
    if (!before.isReported)
      report.error({ type, reason }, 'an index that was made again has other documents: run `varve verify`');
    counts.remade.set(alias, { ...before, isReported: true });
    return false;
  }
  counts.remade.set(alias, { at: now, times: (before?.times ?? 0) + 1, difference, isReported: false });
  lose(state, type, { kind: 'foreign', reason, refusesReads: true });
  return true;
}

/** Returns whether a new copy of the index would probably differ like the last one. */
function mustWait(last: Remade, difference: number, now: number): boolean {
  const isSame = last.difference === difference;
  return (isSame || last.times >= MOST_AT_ONCE) && now - last.at < backoffMs(last.times, AGAIN);
}
