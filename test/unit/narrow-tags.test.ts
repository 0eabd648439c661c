import { expect, it } from 'vitest';
import { createNarrowTags } from '../../services/delivery/narrow-tags.ts';
import { narrowTag, ROWS } from '../../services/delivery/tag.ts';

const MOST = 10;

/** Creates tags, and counts how often one is made. */
function createCounted() {
  let made = 0;
  const narrowTags = createNarrowTags((...parts) => {
    made++;
    return narrowTag(...parts);
  }, MOST);
  return { narrowTags, made: () => made };
}

const VALUES = ['', 'a b', 'true', true, false, '__proto__', 'constructor', 'Zürich', 'x'.repeat(200)];

it('has the tag of each type, world, field, value and attribute, however many were made before', () => {
  const { narrowTags } = createCounted();
  for (const type of ['api::a.a', 'api::b.b'])
    for (const world of ['draft', 'published'] as const)
      for (const field of ['slug', 'city.slug', '__proto__'])
        for (const value of VALUES)
          for (const attribute of [ROWS, 'name', '__proto__', 'name'])
            expect(narrowTags(type, world, { field, value })(attribute)).toBe(
              narrowTag(type, world, { field, value }, attribute),
            );
});

it('makes a tag once', () => {
  const { narrowTags, made } = createCounted();
  for (const _ of [1, 2]) {
    for (const value of ['a', 'b']) narrowTags('api::a.a', 'published', { field: 'slug', value })(ROWS);
    expect(made()).toBe(2);
  }
});

it('remembers no more tags than the limit, for all content types and fields together', () => {
  const { narrowTags, made } = createCounted();
  const make = (n: number) =>
    narrowTags(`api::a${n}.a`, 'published', { field: `f${n}`, value: n % 2 > 0 })(ROWS);
  for (let n = 0; n < MOST; n++) make(n);
  make(MOST);
  expect(made()).toBe(MOST + 1);
  // All of them were forgotten.
  make(1);
  expect(made()).toBe(MOST + 2);
  make(MOST);
  expect(made()).toBe(MOST + 2);
});
