import { rest } from '../../../turns/slice.ts';
import { type GeoCircle, metersBetween, pointOf, storedPoint } from '../../geo-area.ts';
import { type IndexedColumn, sortValue } from '../columns/indexed-column.ts';
import { setBit } from '../lists/bits.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import type { Matcher } from './matcher.ts';

/** Rows tested between two checks of the clock. */
const AT_ONCE = 256;
/** Approximate nanoseconds to measure one distance. */
const DISTANCE_COST = 150;

/** Matches rows whose point, in two columns of degrees, is in a circle. Each row is tested: a query also has ranges, which come first. */
export function matchArea(
  rowSet: RowSetIndex,
  [latitudes, longitudes]: readonly [IndexedColumn, IndexedColumn],
  { center, meters }: GeoCircle,
): Matcher {
  const test = (row: number) => {
    const point = pointOf(sortValue(latitudes, row), sortValue(longitudes, row));
    return point !== undefined && metersBetween(center, storedPoint(point)) <= meters;
  };
  let next = 0;
  return {
    estimate: Math.min(latitudes.store.column.presentCount, longitudes.store.column.presentCount),
    cost: rowSet.size * DISTANCE_COST,
    testCost: DISTANCE_COST,
    collect: (into) => {
      while (next < rowSet.size) {
        const end = Math.min(rowSet.size, next + AT_ONCE);
        for (; next < end; next++) if (test(next)) setBit(into, next);
        rest(AT_ONCE);
      }
    },
    test,
  };
}
