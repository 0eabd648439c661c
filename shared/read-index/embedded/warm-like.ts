import { adoptOrder } from './adopt-order.ts';
import { type Dictionary, distinctTerms, foldTerm } from './dictionary.ts';
import type { IndexedColumn } from './indexed-column.ts';
import { addNgrams, createNgramIndex } from './ngram-index.ts';
import { knownOrders, type OrderCache, orderLike } from './order-cache.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { inSlices, type Slices } from './slices.ts';
import type { SortedOrder } from './sorted-order.ts';
import { counterpart, everySpace, type Spaces } from './spaces.ts';
import { warmFewValues, warmTerms, warmTextForms } from './warm-columns.ts';

/** An index, as far as queries have things made in it. */
export type WarmedIndex = { readonly spaces: Spaces; readonly orders: OrderCache };

/**
 * Makes what queries have had made in another index of these rows: dictionaries, n-grams and sort orders, in slices. Rows may
 * change meanwhile in both. False when a pause said that there is no more to be done.
 */
export async function warmLike(index: WarmedIndex, other: WarmedIndex, slices: Slices): Promise<boolean> {
  for (const like of everySpace(other.spaces)) {
    const space = counterpart(index.spaces, like);
    for (const column of like.columns) {
      const own = space?.columnsByField.get(column.field);
      if (space === undefined || own === undefined) continue;
      if (!(await warmColumnLike(space, own, column, slices))) return false;
    }
  }
  for (const known of knownOrders(other.orders)) {
    const space = counterpart(index.spaces, known.order.space);
    if (space === undefined || !known.order.built) continue;
    await orderLike(index.orders, space, known, (order) =>
      adoptOrder(order, keysInOrder(known.order), slices),
    );
  }
  return slices.pause();
}

/** Rows that have moved since stand anywhere; who takes the order over looks. */
function keysInOrder({ rows, count, space }: SortedOrder): Float64Array {
  return Float64Array.from(rows.subarray(0, count), (row) => space.keys[row] as number);
}

async function warmColumnLike(
  space: RowSpaceIndex,
  column: IndexedColumn,
  like: IndexedColumn,
  slices: Slices,
): Promise<boolean> {
  const [own, other] = [column.store, like.store];
  if (own.kind === 'terms' && other.kind === 'terms') {
    const { dictionary } = other.column;
    if (dictionary === undefined) return true;
    if (!(await warmTerms(space, column, own.column, slices))) return false;
    return warmTexts(column, own.column.dictionary, dictionary, slices);
  }
  if (own.kind === 'numbers' && other.kind === 'numbers') {
    const { few, texts } = other.column;
    if (few !== 'unknown' && !(await warmFewValues(space, column, own.column, slices))) return false;
    if (texts === undefined) return true;
    if (!(await warmTextForms(space, column, own.column, slices))) return false;
    return warmTexts(column, own.column.texts, texts, slices);
  }
  return true;
}

/** Folded texts and n-grams, where the other dictionary has them. A column that changes meanwhile is left to the next query. */
async function warmTexts(
  column: IndexedColumn,
  dictionary: Dictionary | undefined,
  like: Dictionary,
  slices: Slices,
): Promise<boolean> {
  if (dictionary === undefined || like.folded === undefined) return true;
  let isStale = false;
  const note = () => {
    isStale = true;
  };
  const folded: (string | undefined)[] = [];
  const indexes = like.ngrams.flatMap((each) =>
    each === undefined ? [] : [createNgramIndex(each.length, distinctTerms(dictionary))],
  );
  const work = (from: number, to: number) => {
    for (let term = from; term < to; term++) {
      const text = foldTerm(dictionary, term);
      folded.push(text);
      if (text !== undefined) for (const index of indexes) addNgrams(index, term, text);
    }
  };
  column.watchers.add(note);
  const isDone = await inSlices(dictionary.values.length, work, slices, () => !isStale);
  column.watchers.delete(note);
  if (isStale) return true;
  if (!isDone) return false;
  dictionary.folded ??= folded;
  for (const index of indexes) dictionary.ngrams[index.length] ??= index;
  return true;
}
