import type { Hits, World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { Tag } from './tag.ts';

/** All tags of an answer. The tags of rows are made only when their text is needed. */
export type CollectedTags = {
  /** Tags that follow from the answer's plan. A tag may occur twice. */
  readonly fixed: readonly Tag[];
  readonly rows: readonly RowTags[];
};

/** One tag for each of these rows. */
export type RowTags = { readonly kind: RowTagKind; readonly hits: Hits };

export type RowTagKind = {
  /** Content type and world of the rows. */
  readonly type: Uid;
  readonly world: World;
  /** Equal for kinds that make equal tags. */
  readonly key: string;
  readonly tagOf: (source: Uint8Array) => Tag;
};

/** Returns all tags. Reads every row, so it takes time for a large answer. */
export function allTags({ fixed, rows }: CollectedTags): ReadonlySet<Tag> {
  const tags = new Set(fixed);
  for (const { kind, hits } of rows) for (const source of hits.sources) tags.add(kind.tagOf(source));
  return tags;
}
