import { describe } from 'vitest';
import { describeAnswers } from './read-index-answers.ts';
import { describeChanges } from './read-index-changes.ts';
import { describeCursors } from './read-index-cursors.ts';
import { describeGroups } from './read-index-groups.ts';
import { describeLongTexts } from './read-index-long-texts.ts';
import { describeMany } from './read-index-many.ts';
import { describeRanking } from './read-index-ranking.ts';
import { describeRelations } from './read-index-relations.ts';
import type { OpenIndex } from './read-index-shelf.ts';
import { describeSorting } from './read-index-sorting.ts';
import { describeTraversal } from './read-index-traversal.ts';
import { describeValues } from './read-index-values.ts';
import { describeWords } from './read-index-words.ts';
import { describeZones } from './read-index-zones.ts';

/** Tests that every adapter of the `ReadIndex` port passes. They close the empty index that `open` returns. `words`: it has search. */
export function describeReadIndexContract(
  name: string,
  open: OpenIndex,
  { words = true }: { readonly words?: boolean } = {},
): void {
  describe(`read index contract: ${name}`, () => {
    describe('values', () => describeValues(open));
    describe('long texts', () => describeLongTexts(open));
    describe('relations and components', () => describeRelations(open));
    describe('dynamic zones', () => describeZones(open));
    describe('sorting', () => describeSorting(open));
    describe('cursors', () => describeCursors(open));
    describe('traversal', () => describeTraversal(open));
    describe('answers', () => describeAnswers(open));
    describe('changes', () => describeChanges(open));
    if (words) describe('words and facets', () => describeWords(open));
    if (words) describe('ranking by rules', () => describeRanking(open));
    if (words) describe('groups', () => describeGroups(open));
    if (words) describe('several searches', () => describeMany(open));
  });
}
