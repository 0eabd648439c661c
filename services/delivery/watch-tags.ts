import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { tagsOfBatch } from './change-tags.ts';
import { createTagPositions, type TagPositions } from './tag-positions.ts';

type Sink = Pick<ReadIndex, 'apply'>;

/**
 * Returns a sink that notes the tags of every batch before `sink` gets it and `index` shows it. Without `positions` if
 * the index is outside this process: what a batch changes there is not known. `registry`: the content types of the rows.
 */
export function watchTags(
  sink: Sink,
  { sourceAt, changedComponents }: ReadIndex,
  registry: () => SchemaRegistry,
): { readonly sink: Sink; readonly positions?: TagPositions } {
  if (sourceAt === undefined || changedComponents === undefined) return { sink };
  const positions = createTagPositions();
  return {
    positions,
    sink: {
      apply(batch) {
        const before = { sourceAt, changedComponents, registry: registry() };
        positions.note(batch.position, () => tagsOfBatch(before, batch));
        return sink.apply(batch);
      },
    },
  };
}
