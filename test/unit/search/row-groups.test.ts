import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRowGroups } from '../../../shared/read-index/row-groups.ts';

const values = fc.array(fc.constantFrom('a', 'b', 'c', 'd', null), { maxLength: 40 });
const page = fc.record({ from: fc.nat(5), size: fc.nat(6), limit: fc.integer({ min: 1, max: 3 }) });

it('groups rows as a naive grouping does', () => {
  fc.assert(
    fc.property(values, page, (given, { from, size, limit }) => {
      const rows = given.map((_, row) => row);
      const found = createRowGroups(rows, (row) => given[row] ?? null, { from, size, limit })();
      const isFirst = (row: number) => given[row] === null || given.indexOf(given[row] ?? null) === row;
      const firsts = rows.filter(isFirst);
      const groups = firsts.slice(from, from + size).map((first) => {
        const value = given[first] ?? null;
        const all = value === null ? [first] : rows.filter((row) => given[row] === value);
        return { value, all };
      });
      expect(found).toEqual({
        total: firsts.length,
        rows: groups.flatMap(({ all }) => all.slice(0, limit)),
        groups: groups.map(({ value, all }) => {
          return { value, count: all.length, hits: Math.min(limit, all.length) };
        }),
      });
    }),
  );
});
