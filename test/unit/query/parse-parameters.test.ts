import { expect, it } from 'vitest';
import { createParametersParser } from '../../../services/query/parse-parameters.ts';

/** Number of the latest sets of keys that are remembered. As many before them may be remembered too. */
const KEPT = 500;
/** Largest length of remembered keys. Longer ones are parsed each time. */
const LONGEST = 1_000;

/** Counts how often a query string was parsed as a whole. */
function countingParser() {
  let parsed = 0;
  const parse = createParametersParser((text) => {
    parsed += 1;
    return Object.fromEntries(new URLSearchParams(text));
  });
  return (text: string): number => {
    const before = parsed;
    expect(parse(text)).toEqual(Object.fromEntries(new URLSearchParams(text)));
    return parsed - before;
  };
}

it(`remembers the keys of the last ${KEPT} query strings, whatever their values`, () => {
  const timesFor = countingParser();
  expect([timesFor('first=1'), timesFor('first=2')]).toEqual([1, 0]);
  for (let n = 0; n < 2 * KEPT; n++) timesFor(`k${n}=1`);
  expect([timesFor(`k${2 * KEPT - 1}=2`), timesFor('first=3')]).toEqual([0, 1]);
});

it(`does not remember keys of more than ${LONGEST} characters`, () => {
  const timesFor = countingParser();
  // The equals sign counts for the length.
  const [long, longer] = [LONGEST - 1, LONGEST].map((length) => 'k'.repeat(length));
  expect([timesFor(`${long}=1`), timesFor(`${long}=2`)]).toEqual([1, 0]);
  expect([timesFor(`${longer}=1`), timesFor(`${longer}=2`)]).toEqual([1, 1]);
});
