import { andBits, andNotBits, type Bits, clearBit, countBits, decodeRows, orBits } from './bits.ts';
import { type Matcher, matchEveryRow } from './matcher.ts';
import { borrowBits, type RowSpaceIndex, releaseBits } from './row-space.ts';
import { PART, spend } from './time-limit.ts';

/** Rows that at least one of `options` matches. */
export function matchAny(options: readonly Matcher[], space: RowSpaceIndex): Matcher {
  return {
    estimate: Math.min(
      space.count,
      sum(options, (option) => option.estimate),
    ),
    cost: sum(options, (option) => option.cost),
    testCost: sum(options, (option) => option.testCost),
    collect: (into) => {
      for (const option of options) {
        spend(PART);
        option.collect(into);
      }
    },
    test: (row) => options.some((option) => option.test(row)),
  };
}

/** Rows that all of `required` and none of `excluded` match. */
export function matchAll(
  required: readonly Matcher[],
  excluded: readonly Matcher[],
  space: RowSpaceIndex,
): Matcher {
  const driver = cheapestDriver(required, excluded, space);
  const others = required.filter((matcher) => matcher !== driver).sort(bySelectivity);
  const rest = sum([...others, ...excluded], (matcher) => costWithin(matcher, driver.estimate));
  return {
    estimate: Math.min(driver.estimate, ...others.map((other) => other.estimate)),
    cost: driver.cost + rest,
    testCost: driver.testCost + sum(others, (m) => m.testCost) + sum(excluded, (m) => m.testCost),
    collect: (into) => {
      const rows = borrowBits(space);
      driver.collect(rows);
      for (const other of others) narrow(rows, other, true, space);
      for (const matcher of excluded) narrow(rows, matcher, false, space);
      orBits(into, rows);
      releaseBits(space, rows);
    },
    test: (row) => required.every((m) => m.test(row)) && !excluded.some((m) => m.test(row)),
  };
}

/** The matcher to collect first: where it and the rest, asked only about its rows or collected, cost least. */
function cheapestDriver(
  required: readonly Matcher[],
  excluded: readonly Matcher[],
  space: RowSpaceIndex,
): Matcher {
  const [first, ...others] = required;
  if (first === undefined) return matchEveryRow(space);
  if (others.length === 0) return first;
  const all = [...required, ...excluded];
  const costFrom = (driver: Matcher) =>
    driver.cost + sum(all, (m) => (m === driver ? 0 : costWithin(m, driver.estimate)));
  let best = first;
  let bestCost = costFrom(first);
  for (const candidate of others) {
    const cost = costFrom(candidate);
    if (cost >= bestCost) continue;
    best = candidate;
    bestCost = cost;
  }
  return best;
}

/** rows &= matcher, or rows &= ~matcher when it is not `wanted`. */
function narrow(rows: Bits, matcher: Matcher, wanted: boolean, space: RowSpaceIndex): void {
  spend(PART);
  if (matcher.cost > 1000 || space.size > 100_000) {
    const count = countBits(rows);
    if (count === 0) return;
    if (count * matcher.testCost < matcher.cost) {
      keepTested(rows, matcher, wanted);
      return;
    }
  }
  const matched = borrowBits(space);
  matcher.collect(matched);
  if (wanted) andBits(rows, matched);
  else andNotBits(rows, matched);
  releaseBits(space, matched);
}

function keepTested(rows: Bits, matcher: Matcher, wanted: boolean): void {
  const decoded = decodeRows(rows);
  for (let i = 0; i < decoded.count; i++) {
    if ((i & 63) === 0) spend(64);
    const row = decoded.rows[i] as number;
    if (matcher.test(row) !== wanted) clearBit(rows, row);
  }
}

function costWithin(matcher: Matcher, rows: number): number {
  return Math.min(matcher.cost, rows * matcher.testCost);
}

function bySelectivity(a: Matcher, b: Matcher): number {
  return a.estimate - b.estimate;
}

function sum(matchers: readonly Matcher[], of: (matcher: Matcher) => number): number {
  let total = 0;
  for (const matcher of matchers) total += of(matcher);
  return total;
}
