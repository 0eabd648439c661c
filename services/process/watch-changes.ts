import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { digestTag, type Tag } from '../delivery/tag.ts';
import { watchTags } from '../delivery/watch-tags.ts';
import { openChangedRows } from '../purge/changed-rows.ts';
import type { PurgeNotes } from '../purge/purge-notes.ts';

type Watched = {
  readonly graph: Pick<ContentGraph, 'registry' | 'readAll'>;
  readonly index: ReadIndex;
  readonly sink: Pick<ReadIndex, 'apply'>;
  /** Takes the tags of all changes, for other processes. Absent: there are no documents for them. */
  readonly noteTags: (() => (position: bigint, tags: readonly string[]) => void) | undefined;
  /** Absent: nothing is purged. */
  readonly notes: Pick<PurgeNotes, 'changed'> | undefined;
};

/** Notes the tags of each change. With an index outside the process, for purges alone: then the rows are kept in memory too. */
export async function watchChanges({
  graph,
  index,
  sink,
  noteTags,
  notes,
}: Watched): Promise<ReturnType<typeof watchTags>> {
  const registry = () => graph.registry();
  if (index.sourceAt !== undefined || notes === undefined)
    return watchTags(sink, index, registry, { changed: notes?.changed });
  const own = await openChangedRows(graph, sink);
  const note = noteTags?.();
  const noted = (position: bigint, tags: Iterable<Tag>) => note?.(position, Array.from(tags, digestTag));
  return { sink: watchTags(own.sink, own.rows, registry, { changed: notes.changed, noted }).sink };
}
