import { expect, it } from 'vitest';
import { connectRows, createLinks } from '../../shared/read-index/embedded/rows/links.ts';
import { fewStartsOf, startsOf } from '../../shared/read-index/embedded/rows/step-ends.ts';

/** Reviews lead to restaurants, and restaurants to tags. Two reviews are of each of ten restaurants, which all have tag 0. */
const ofReviews = createLinks();
const ofRestaurants = createLinks();
for (let review = 0; review < 20; review++)
  connectRows(ofReviews, review, review >> 1, { sourceOrder: 0, targetOrder: review });
for (let restaurant = 0; restaurant < 10; restaurant++)
  connectRows(ofRestaurants, restaurant, 0, { sourceOrder: 0, targetOrder: restaurant });
const steps = [ofReviews, ofRestaurants].map(({ backward }) => ({ up: backward }));

it('returns the rows from which steps lead to a row, up to the limit', () => {
  const all = Array.from({ length: 20 }, (_, review) => review);
  expect([...startsOf(steps, 0)]).toEqual(all);
  expect([...(fewStartsOf(steps, 0, 20) ?? [])]).toEqual(all);
  expect(fewStartsOf(steps, 0, 19)).toBeUndefined();
});

it('returns nothing if a step on the way leads to more', () => {
  expect([...(fewStartsOf(steps.slice(1), 0, 10) ?? [])]).toHaveLength(10);
  expect(fewStartsOf(steps.slice(1), 0, 9)).toBeUndefined();
  expect(fewStartsOf(steps, 0, 9)).toBeUndefined();
});
