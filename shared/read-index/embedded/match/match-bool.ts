import { PART, rest, SLICE_OVER } from '../../../turns/slice.ts';
import {
  andBits,
  andNotBits,
  type Bits,
  clearBit,
  countBits,
  decodeRows,
  orBits,
  STRETCH,
} from '../lists/bits.ts';
import { borrowBits, type RowSetIndex, releaseBits } from '../rows/row-set.ts';
import { collectMatches, type Matcher, matchEveryRow } from './matcher.ts';

/** Matches rows that at least one of `options` matches. */
export function matchAny(options: readonly Matcher[], rowSet: RowSetIndex): Matcher {
  const estimate = sum(options, (option) => option.estimate);
  let collected = 0;
  return {
    estimate: Math.min(rowSet.count, estimate),
    cost: sum(options, (option) => option.cost),
    testCost: sum(options, (option) => option.testCost),
    collect: (into) => {
      while (collected < options.length) {
        collectMatches(options[collected] as Matcher, into);
        collected++;
        rest(PART);
      }
    },
    test: (row) => options.some((option) => option.test(row)),
  };
}

/** Matches rows that all of `required` and none of `excluded` match. */
export function matchAll(
  required: readonly Matcher[],
  excluded: readonly Matcher[],
  rowSet: RowSetIndex,
): Matcher {
  const driver = cheapestDriver(required, excluded, rowSet);
  const others = required.filter((matcher) => matcher !== driver).sort(bySelectivity);
  const narrowing = sum([...others, ...excluded], (matcher) => costWithin(matcher, driver.estimate));
  const sets = excluded.length === 0 ? setsOf(required) : undefined;
  let rows: Bits | undefined;
  let state = createNarrowing();
  /** Number of other and excluded matchers that have been applied; -1: the driver is still being collected. */
  let narrowed = -1;
  return {
    estimate: Math.min(driver.estimate, ...others.map((other) => other.estimate)),
    cost: driver.cost + narrowing,
    testCost: driver.testCost + sum(others, (m) => m.testCost) + sum(excluded, (m) => m.testCost),
    collect: (into) => {
      if (sets !== undefined) return intersect(into, sets);
      rows ??= borrowBits(rowSet);
      if (narrowed < 0) collectMatches(driver, rows);
      narrowed = Math.max(0, narrowed);
      while (narrowed < others.length + excluded.length) {
        state.wanted = narrowed < others.length;
        const matcher = (state.wanted ? others[narrowed] : excluded[narrowed - others.length]) as Matcher;
        narrow(rows, matcher, rowSet, state);
        matcher.missed?.(costWithin(matcher, driver.estimate));
        state = createNarrowing();
        narrowed++;
        rest(PART);
      }
      orBits(into, rows);
      releaseBits(rowSet, rows);
    },
    test: (row) => required.every((m) => m.test(row)) && !excluded.some((m) => m.test(row)),
    few: matchFew(required, excluded),
  };
}

/** Limit for the cost of testing few rows, because this runs in one slice. */
const FEW_COST = 50_000;

/**
 * Returns the few rows of one of `required`, tested against the others. Returns undefined if no matcher has few rows, or tests cost too
 * much.
 */
function matchFew(required: readonly Matcher[], excluded: readonly Matcher[]): Matcher['few'] {
  const driver = required.filter(({ few }) => few !== undefined).sort(bySelectivity)[0];
  if (driver?.few === undefined) return undefined;
  const { few, estimate } = driver;
  const others = required.filter((matcher) => matcher !== driver);
  if (estimate * sum([...others, ...excluded], ({ testCost }) => testCost) > FEW_COST) return undefined;
  return () =>
    [...few()].filter((row) => others.every((m) => m.test(row)) && !excluded.some((m) => m.test(row)));
}

/** Returns the matcher to collect first. It has the lowest total cost, including tests or collections of the rest. */
function cheapestDriver(
  required: readonly Matcher[],
  excluded: readonly Matcher[],
  rowSet: RowSetIndex,
): Matcher {
  const [first, ...others] = required;
  if (first === undefined) return matchEveryRow(rowSet);
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

/** Rows tested between two checks of the clock. */
const TESTED_AT_ONCE = 64;

/** Progress of keeping the rows that one matcher accepts. */
type Narrowing = {
  /** True keeps rows that match. False keeps rows that do not match. */
  wanted: boolean;
  /** `tests`: each row is tested. `set`: each row is looked up in the set of all matches. */
  by: 'undecided' | 'tests' | 'set';
  /** The first row that has not been tested. */
  tested: number;
  /** The set of all matches, while it is being collected. */
  matched: Bits | undefined;
};

function createNarrowing(): Narrowing {
  return { wanted: true, by: 'undecided', tested: 0, matched: undefined };
}

/** Computes `rows &= matcher`, or `rows &= ~matcher` if not `wanted`. */
function narrow(rows: Bits, matcher: Matcher, rowSet: RowSetIndex, state: Narrowing): void {
  if (state.by === 'undecided' && (matcher.cost > 1000 || rowSet.size > 100_000)) {
    const count = countBits(rows);
    if (count === 0) return;
    if (count * matcher.testCost < matcher.cost) state.by = 'tests';
  }
  if (state.by === 'tests') {
    keepTested(rows, matcher, state);
    return;
  }
  const { bits } = matcher;
  if (bits !== undefined) {
    if (state.wanted) andBits(rows, bits);
    else andNotBits(rows, bits);
    return;
  }
  state.by = 'set';
  state.matched ??= borrowBits(rowSet);
  matcher.collect(state.matched);
  if (state.wanted) andBits(rows, state.matched);
  else andNotBits(rows, state.matched);
  releaseBits(rowSet, state.matched);
}

/** Tests rows one after the other. A repeated test of a row gives the same result. */
function keepTested(rows: Bits, matcher: Matcher, state: Narrowing): void {
  const { wanted } = state;
  while (state.tested < rows.length * 32) {
    const word = state.tested >>> 5;
    const decoded = decodeRows(rows, word);
    for (let from = 0; from < decoded.count; from += TESTED_AT_ONCE) {
      const end = Math.min(from + TESTED_AT_ONCE, decoded.count);
      try {
        for (let i = from; i < end; i++) {
          const row = decoded.rows[i] as number;
          if (matcher.test(row) !== wanted) clearBit(rows, row);
        }
      } catch (error) {
        // If a few rows have most of the links, one test takes more than a slice. Then all matches are collected.
        if (error === SLICE_OVER) state.by = 'set';
        throw error;
      }
      state.tested = (decoded.rows[end - 1] as number) + 1;
      rest(TESTED_AT_ONCE);
    }
    state.tested = (word + STRETCH) * 32;
  }
}

/** Returns the rows of several matchers, if all are known. */
function setsOf(matchers: readonly Matcher[]): readonly Bits[] | undefined {
  const sets = matchers.flatMap(({ bits }) => (bits === undefined ? [] : [bits]));
  return sets.length > 1 && sets.length === matchers.length ? sets : undefined;
}

/** Adds the rows that are in all sets, in one pass. */
function intersect(into: Bits, sets: readonly Bits[]): void {
  const length = Math.min(into.length, ...sets.map((set) => set.length));
  for (let i = 0; i < length; i++) {
    let word = -1;
    for (let at = 0; word !== 0 && at < sets.length; at++) word &= (sets[at] as Bits)[i] as number;
    into[i] = (into[i] as number) | word;
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
