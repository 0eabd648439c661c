import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyLinks, applyRows } from '../../../shared/read-index/embedded/apply-batch.ts';
import type { LocaleText } from '../../../shared/read-index/embedded/locale-text.ts';
import { createNearWalk } from '../../../shared/read-index/embedded/near-words.ts';
import { postingCount } from '../../../shared/read-index/embedded/postings.ts';
import { restoreTexts } from '../../../shared/read-index/embedded/restore-texts.ts';
import { listValues } from '../../../shared/read-index/embedded/row-lists.ts';
import { createRowSets, worldRowSet } from '../../../shared/read-index/embedded/row-sets.ts';
import { saveTexts } from '../../../shared/read-index/embedded/save-texts.ts';
import { createSourceStore } from '../../../shared/read-index/embedded/source-store.ts';
import {
  bringUpToDate,
  createTextIndex,
  type TextIndex,
} from '../../../shared/read-index/embedded/text-index.ts';
import { searchOf } from '../../../shared/search/search-settings.ts';
import {
  ARTICLE,
  type Article,
  article,
  articleChange,
  articleRegistry,
  tagChange,
  tagChanges,
  tagLink,
} from '../../support/searched-articles.ts';
import { createWordMemory } from '../../support/word-memory.ts';

const registry = articleRegistry();
const slices = { pause: () => nextTurn(true), sliceMs: 1 };

type Change = {
  readonly row: Article;
  readonly isGone: boolean;
  readonly tag: number;
  readonly name: string;
};

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    row: article.map((row): Article => ({ ...row, version: 'published' })),
    isGone: fc.boolean(),
    tag: fc.integer({ min: 1, max: 4 }),
    name: fc.constantFrom('Tag 1', 'Same', 'Heat layers'),
  }),
  { maxLength: 30 },
);

function createRows() {
  const rowSets = createRowSets(registry, 2);
  const target = { rowSets, sources: createSourceStore(2 ** 20, undefined) };
  applyRows(target, tagChanges());
  const keys = new Set<number>();
  const apply = (all: readonly Change[]) => {
    for (const { row, isGone, tag, name } of all) {
      applyRows(target, [tagChange(tag, name), articleChange(row, isGone && keys.has(row.key))]);
      if (isGone && keys.delete(row.key)) continue;
      keys.add(row.key);
      applyLinks(target, [tagLink({ key: row.key, tag, isTagged: true, world: 'published' })]);
    }
  };
  const rowSet = worldRowSet(rowSets, ARTICLE, 'published');
  const createIndex = () => createTextIndex(rowSets, 'published', rowSet, searchOf(registry, ARTICLE));
  return { apply, createIndex };
}

/** Returns the content of an index without the numbers of words. */
function contentOf(index: TextIndex) {
  const wordsOf = ({ vocabulary }: LocaleText, row: number) =>
    listValues(index.tokens, row).map((token) => (token < 0 ? token : vocabulary.words[token]?.key));
  return {
    rows: Array.from({ length: index.read }, (_, row) => {
      const text = index.localeOf[row];
      return text && [text.locale, ...wordsOf(text, row)];
    }),
    digests: [...index.digests.subarray(0, index.read)],
    locales: Object.fromEntries(
      [...index.locales].filter(hasRows).map(([name, text]) => [name, textOf(text)]),
    ),
  };
}

const hasRows = ([, { rows }]: readonly [string, LocaleText]) => rows > 0;

function textOf({ vocabulary, postings, lengths, rows }: LocaleText) {
  const words = [...vocabulary.words.entries()].flatMap(([number, word]) => {
    if (word === undefined) return [];
    const inTrie = new Set<number>();
    createNearWalk(vocabulary.trie, { text: word.folded, typos: 0, isPrefix: false }, (found) =>
      inTrie.add(found),
    )();
    // There are few rows, so no posting is stored as bits.
    const found = postings.map((ofField) => listValues(ofField.lists, number).sort((a, b) => a - b));
    expect(found.map(({ length }) => length)).toEqual(
      postings.map((ofField) => postingCount(ofField, number)),
    );
    return [[word.key, { ...word, found, isInTrie: inTrie.has(number) }] as const];
  });
  expect(vocabulary.numbers.count).toBe(words.length);
  return { rows, lengths, words: Object.fromEntries(words) };
}

it('equals an index that read all texts, after any changes since the words were stored', async () => {
  await fc.assert(
    fc.asyncProperty(changes, changes, changes, async (before, between, after) => {
      const files = createWordMemory({ fewRows: 0 });
      const first = createRows();
      first.apply(before);
      const stored = first.createIndex();
      bringUpToDate(stored);
      await saveTexts(stored, files, slices);
      const { apply, createIndex } = createRows();
      apply(before);
      apply(between);
      const restored = createIndex();
      restored.restoring = restoreTexts(restored, files);
      bringUpToDate(restored);
      const read = () => {
        const index = createIndex();
        bringUpToDate(index);
        return contentOf(index);
      };
      expect(contentOf(restored)).toEqual(read());
      apply(after);
      bringUpToDate(restored);
      expect(contentOf(restored)).toEqual(read());
    }),
    { numRuns: 100 },
  );
});
