import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFacetSelection } from '../../../shared/read-index/embedded/facets/select-facets.ts';

const name = fc.constantFrom('a', 'A', 'b', 'ba', '10', '9', 'é', '\u{1f600}', '\uff5e');
const counted = fc.uniqueArray(fc.record({ value: name, count: fc.nat(3) }), {
  selector: ({ value }) => value,
});
const requests = fc.record({
  limit: fc.integer({ min: 1, max: 6 }),
  search: fc.constantFrom(undefined, 'b'),
  byName: fc.constantFrom(undefined, true as const),
});

it('selects the values that a naive order has first', () => {
  const byCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  fc.assert(
    fc.property(counted, requests, (all, { limit, search, byName }) => {
      const select = createFacetSelection(
        {
          size: all.length,
          countAt: (at) => all[at]?.count ?? 0,
          nameAt: (at) => all[at]?.value ?? '',
        },
        { limit, ...(search !== undefined && { search }), ...(byName && { byName }) },
      );
      const expected = all
        .filter(({ value, count }) => count > 0 && (search === undefined || value.startsWith(search)))
        .toSorted((a, b) => (byName ? 0 : b.count - a.count) || byCodePoints(a.value, b.value))
        .slice(0, limit);
      expect(select()).toEqual(expected);
    }),
  );
});
