import type { ScalarType } from '../../schema/content-type.ts';
import { createSequence } from '../../turns/sequence.ts';
import { runInSlices, type Slices } from '../../turns/slices.ts';
import { columnTypes } from './columns/column-types.ts';
import { fewValues } from './columns/number-column.ts';
import { dictionaryOf } from './columns/term-column.ts';
import type { RowSetIndex } from './rows/row-set.ts';
import { type RowSets, versionRowSets } from './rows/row-sets.ts';

/** Types that filters compare for equality. Texts have large dictionaries, which searches build when they need them. */
const WARMED: ReadonlySet<ScalarType> = new Set(['string', 'email', 'uid', 'enumeration', 'biginteger']);

/**
 * Builds the dictionaries for which the first filters on most columns would otherwise wait, in slices. Rows may change in between, and a
 * query may continue building a dictionary itself. Resolves to false if a pause ended the work.
 */
export function warmColumns(rowSets: RowSets, slices: Slices): Promise<boolean> {
  const filled = versionRowSets(rowSets).filter(({ size }) => size > 0);
  return runInSlices(createSequence(filled.flatMap(dictionariesOf)), slices);
}

/** Returns a step for each dictionary, which builds it. */
function dictionariesOf(rowSet: RowSetIndex): readonly (() => unknown)[] {
  const types = columnTypes(rowSet.model);
  return rowSet.columns.flatMap(({ field, store }) => {
    if (store.kind === 'numbers') return [() => fewValues(store.column, rowSet.size)];
    return WARMED.has(types.get(field) as ScalarType) ? [() => dictionaryOf(store.column, rowSet.size)] : [];
  });
}
