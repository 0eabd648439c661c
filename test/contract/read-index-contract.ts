import { describe } from 'vitest';
import { describeChanges } from './read-index-changes.ts';
import { describeCursors } from './read-index-cursors.ts';
import { describeFollowing } from './read-index-following.ts';
import { describeRelations } from './read-index-relations.ts';
import type { OpenIndex } from './read-index-shelf.ts';
import { describeSorting } from './read-index-sorting.ts';
import { describeValues } from './read-index-values.ts';

/** What every adapter of the `ReadIndex` port does. `open` gives an empty index, which the suite closes. */
export function describeReadIndexContract(name: string, open: OpenIndex): void {
  describe(`read index contract: ${name}`, () => {
    describe('values', () => describeValues(open));
    describe('relations and components', () => describeRelations(open));
    describe('sorting', () => describeSorting(open));
    describe('cursors', () => describeCursors(open));
    describe('following', () => describeFollowing(open));
    describe('changes', () => describeChanges(open));
  });
}
