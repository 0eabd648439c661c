import { firstWhere } from '../../../first-where.ts';
import { rest } from '../../../turns/slice.ts';
import { facetFilter, facetOrder } from '../../facet-values.ts';
import type { FacetCount, FacetRequest } from '../../facets.ts';

/** Values by number: the number of rows that have each value, and its name. */
export type CountedValues = {
  readonly size: number;
  readonly countAt: (at: number) => number;
  readonly nameAt: (at: number) => string;
};

/** Cost of a value, and of a value that may be selected, in steps of a slice. */
const VALUE_STEPS = 1;
const NAME_STEPS = 20;

/**
 * Selects the first values that a request needs, by count and name, or by name only. By count it reads only the names of values that may be
 * among these, because a column may have as many values as rows. If a call ends with its slice, the next call continues.
 */
export function createFacetSelection(
  { size, countAt, nameAt }: CountedValues,
  request: Pick<FacetRequest, 'limit' | 'search' | 'byName'>,
): () => FacetCount[] {
  const { limit, search, byName } = request;
  const order = facetOrder(request);
  const isWanted = search === undefined ? undefined : facetFilter(search);
  const best: FacetCount[] = [];
  let next = 0;
  return () => {
    while (next < size) {
      const at = next++;
      const count = countAt(at);
      const last = best.length < limit ? undefined : best[limit - 1];
      if (count > 0 && (byName === true || last === undefined || count >= last.count)) {
        const value = nameAt(at);
        if (isWanted === undefined || isWanted(value)) insert(best, { value, count }, limit, order);
        rest(NAME_STEPS);
      } else rest(VALUE_STEPS);
    }
    return best;
  };
}

/** Inserts a value into `best`, which has the first `most` values in order. */
function insert(
  best: FacetCount[],
  each: FacetCount,
  most: number,
  order: ReturnType<typeof facetOrder>,
): void {
  const last = best[most - 1];
  if (last !== undefined && order(each, last) >= 0) return;
  const slot = firstWhere(best.length, (at) => order(each, best[at] as FacetCount) < 0);
  best.splice(slot, 0, each);
  if (best.length > most) best.pop();
}
