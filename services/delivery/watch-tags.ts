import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { tagsOfBatch } from './change-tags.ts';
import type { Tag } from './tag.ts';
import { createTagPositions, type TagPositions } from './tag-positions.ts';

type Sink = Pick<ReadIndex, 'apply'>;

/**
 * Returns a sink that notes the tags of every batch before `sink` gets it and `index` shows it. The result has no `positions` if the index
 * is outside this process, because a batch's changes are not known there. `registry`: the content types of the rows. Calls `changed`
 * with all tags of a batch after `index` shows it.
 */
export function watchTags(
  sink: Sink,
  { local }: Pick<ReadIndex, 'local'>,
  registry: () => SchemaRegistry,
  changed?: (position: bigint, tags: Iterable<Tag>) => void,
): { readonly sink: Sink; readonly positions?: TagPositions } {
  if (local === undefined) return { sink };
  const positions = createTagPositions();
  return {
    positions,
    sink: {
      apply(batch) {
        const before = { ...local, registry: registry() };
        if (changed === undefined) {
          positions.note(batch.position, () => tagsOfBatch(before, batch));
          return sink.apply(batch);
        }
        const tags = tagsOfBatch(before, batch);
        positions.note(batch.position, () => tags);
        return Promise.resolve(sink.apply(batch)).then(() => changed(batch.position, tags));
      },
    },
  };
}
