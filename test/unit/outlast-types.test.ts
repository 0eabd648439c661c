import { expect, it } from 'vitest';
import { outlastTypes } from '../../services/elasticsearch/outlast-types.ts';
import { createCurrentSet } from '../../shared/read-index/elasticsearch/read/current-set.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';

const OLD: IndexSet = { 'v-cook-draft': 'v-cook-draft-1' };
const NEW: IndexSet = { 'v-cook-draft': 'v-cook-draft-2' };

/** Opens a reading process, and a cluster of which only the old indices fit the process's content types. */
function openReader() {
  let live = OLD;
  const changed = Promise.withResolvers<void>();
  const indices = createCurrentSet(
    async () => live,
    () => performance.now(),
  );
  const isWhole = async () => live === OLD;
  const report = { info() {}, warn() {}, error() {} };
  let isOver = false;
  const over = outlastTypes(changed.promise, { indices, isWhole }, { log: 'log', report }).catch(
    (error: Error) => {
      isOver = true;
      return error.message;
    },
  );
  return {
    ...{ indices, over },
    isOver: () => isOver,
    change: () => changed.reject(new Error('the content types have changed')),
    switchAliases() {
      live = NEW;
    },
  };
}

it('a process reads its indices until those of the new content types are live', async () => {
  const { indices, over, change, switchAliases, isOver } = openReader();
  await indices.refresh();
  change();
  await expect.poll(() => indices.get()).toBe(OLD);
  expect(isOver()).toBe(false);
  switchAliases();
  expect(await over).toContain('have changed');
});

it('a process that learns of the change after the alias switch ends at once', async () => {
  const { indices, over, change, switchAliases } = openReader();
  switchAliases();
  await indices.refresh();
  change();
  expect(await over).toContain('have changed');
});
