import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { hmac } from '../../shared/text-digest.ts';
import { allTags, type CollectedTags } from './collected-tags.ts';
import { createRowNames } from './row-names.ts';
import { partsOfTag, type Tag } from './tag.ts';

/** Room for the tags of one answer in a header. */
export type TagRoom = {
  readonly tags: number;
  readonly bytes: number;
  /** Bytes of a tag besides its name: separator and quotes. */
  readonly around: number;
};

export type TagNamesOptions = {
  /** The same in every process of a log: the names are the same then. */
  readonly key: Uint8Array;
  /** Content types that the readers of plain names may see. */
  readonly registry: SchemaRegistry;
  /** Add `<plural>` and `<plural>:<documentId>`, for receivers that name tags themselves. */
  readonly plain: boolean;
};

/**
 * Names of tags outside this process, which say nothing about content: keyed digests. They are the same whatever the case of
 * their letters.
 */
export type TagNames = {
  /** Names of an answer. With too little room, coarser ones take the place of fine ones. undefined: any change may change it. */
  ofAnswer(tags: CollectedTags | undefined, room: TagRoom): readonly string[];
  /** Every name that an answer can have which one of these changes concerns. */
  ofChange(tags: Iterable<Tag>): ReadonlySet<string>;
  /** Every answer has it. It is to be purged when something else than content changes answers. */
  readonly generation: string;
  /** Every answer whose tags have no room has it, and every change. */
  readonly everything: string;
};

/** 48 bits: tags that have the same name by chance are purged together. */
const BYTES = 6;
/** Ids with other characters have no plain name: a header could not tell them apart. */
const PLAIN_ID = /^[\w-]+$/;
/** Akamai drops longer tags. */
const LONGEST_PLAIN = 128;
/** Names that are remembered. */
const MOST_KNOWN = 20_000;

/** Creates names that are equal in all processes with the same key. `plain` adds readable names, such as `restaurants:<documentId>`. */
export function createTagNames({ key, registry, plain }: TagNamesOptions): TagNames {
  const known = new Map<string, string>();
  const name = (text: string): string => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = hmac(key, text).readUIntBE(0, BYTES).toString(36);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(text, made);
    return made;
  };
  const addRows = createRowNames(name);
  const generation = name('generation');
  const everything = name('everything');
  const addPlain = (names: Set<string>, tags: Iterable<Tag>, withDocuments: boolean): void => {
    for (const tag of tags) {
      const { type, documentId } = partsOfTag(tag);
      const plural = pluralOf(registry, type);
      if (plural === undefined) continue;
      names.add(plural);
      if (!withDocuments || documentId === undefined || !PLAIN_ID.test(documentId)) continue;
      const named = `${plural}:${documentId}`;
      if (named.length <= LONGEST_PLAIN) names.add(named);
    }
  };
  /** With one more content type coarse each time, until they fit. */
  const coarseNames = (tags: ReadonlySet<Tag>, room: TagRoom): readonly string[] => {
    const named = (some: Iterable<Tag>) => {
      const names = new Set([generation]);
      for (const tag of some) names.add(name(tag));
      if (plain) addPlain(names, tags, false);
      return [...names];
    };
    for (const coarse of coarserAndCoarser(tags)) {
      const names = named(coarse);
      if (fits(names, room)) return names;
    }
    const types = [...named([]), everything];
    return fits(types, room) ? types : [generation, everything];
  };
  return {
    generation,
    everything,
    ofAnswer(collected, room) {
      if (collected === undefined) return [generation, everything];
      const names = new Set([generation]);
      for (const tag of collected.fixed) names.add(name(tag));
      for (const rows of collected.rows) addRows(names, rows);
      if (plain) addPlain(names, allTags(collected), true);
      const fine = [...names];
      return fits(fine, room) ? fine : coarseNames(allTags(collected), room);
    },
    ofChange(tags) {
      const names = new Set([everything]);
      const seen = [...tags].filter(isShared);
      for (const tag of seen) names.add(name(tag)).add(name(coarseTag(tag)));
      if (plain) addPlain(names, seen, true);
      return names;
    },
  };
}

/** Answers that several callers share show no drafts. Searches by words and single types look at them. */
function isShared(tag: Tag): boolean {
  const { kind, world } = partsOfTag(tag);
  return world !== 'draft' || kind === 'a' || kind === 'w';
}

/** A tag of all rows of a content type in a world. A change of a tag changes its coarse tag as well. */
function coarseTag(tag: Tag): Tag {
  const { kind, world, type } = partsOfTag(tag);
  return kind === 'w' ? tag : `t ${world} ${type}`;
}

/** The tags with one more content type coarse each time, the one with the most tags first. */
function* coarserAndCoarser(tags: ReadonlySet<Tag>): Generator<ReadonlySet<Tag>> {
  const groups = Map.groupBy(tags, coarseTag);
  const coarse = new Set(tags);
  for (const [one, fine] of [...groups].sort(([, a], [, b]) => b.length - a.length)) {
    for (const tag of fine) coarse.delete(tag);
    yield coarse.add(one);
  }
}

function fits(names: readonly string[], { tags, bytes, around }: TagRoom): boolean {
  if (names.length > tags) return false;
  let length = 0;
  for (const name of names) length += name.length + around;
  return length <= bytes;
}

function pluralOf({ contentTypes }: SchemaRegistry, type: Uid): string | undefined {
  const found = contentTypes.get(type);
  return found?.kind === 'singleType' ? found.singularName : found?.pluralName;
}
