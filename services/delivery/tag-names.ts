import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { allTags, type CollectedTags } from './collected-tags.ts';
import { createNameHeader } from './name-header.ts';
import { createPackedNames, type PackedNames } from './packed-names.ts';
import { createRowNames, type NamedRows, type RowNames } from './row-names.ts';
import { partsOfTag, type Tag } from './tag.ts';
import type { TagForm } from './tag-headers.ts';

export type TagNamesOptions = {
  /** Key of the digests: the same in every process of a log, so that the names are the same. */
  readonly key: Uint8Array;
  /** Content types that the readers of plain names may see. */
  readonly registry: SchemaRegistry;
  /** True: add `<plural>` and `<plural>:<documentId>`, for receivers that name tags themselves. */
  readonly plain: boolean;
};

/** Names of tags outside this process: keyed digests, which reveal no content. The case of their letters does not matter. */
export type TagNames = {
  /** Returns a function that writes the names of an answer from this index as a header of this form. */
  answers(form: TagForm, index: NamedRows): NameAnswer;
  /** Returns every name that an affected answer can have. */
  ofChange(tags: Iterable<Tag>): ReadonlySet<string>;
  /** Name of every answer. It is purged when something else than content changes answers. */
  readonly generation: string;
  /** Name of every change, and of every answer whose tags have no room. */
  readonly everything: string;
};

/** Returns the names of an answer. If there is too little room, coarser names replace fine ones. undefined: any change may change it. */
export type NameAnswer = (tags: CollectedTags | undefined) => string;

/** Ids with other characters have no plain name, because a header could not separate such names. */
const PLAIN_ID = /^[\w-]+$/;
/** Akamai drops longer tags. */
const LONGEST_PLAIN = 128;

/** Creates names that are equal in all processes with the same key. `plain` adds readable names, such as `restaurants:<documentId>`. */
export function createTagNames({ key, registry, plain }: TagNamesOptions): TagNames {
  const packed = createPackedNames(key);
  const { textOf } = packed;
  const plainOf: PlainNames = plain ? (tags, isFine) => plainNames(registry, tags(), isFine) : () => NO_NAMES;
  return {
    generation: textOf(GENERATION),
    everything: textOf(EVERYTHING),
    answers: (form, index) => createNameAnswer(form, createRowNames(index, packed), { packed, plainOf }),
    ofChange(tags) {
      const names = new Set([textOf(EVERYTHING)]);
      const seen = [...tags].filter(isShared);
      for (const tag of seen) names.add(textOf(tag)).add(textOf(coarseTag(tag)));
      return names.union(plainOf(() => seen, true));
    },
  };
}

const GENERATION = 'generation';
const EVERYTHING = 'everything';
const ONLY_EVERYTHING: CollectedTags = { fixed: [EVERYTHING], rows: [] };
const NO_NAMES: ReadonlySet<string> = new Set();

/** Returns the plain names of tags, if these are sent. `isFine`: with the names of documents. */
type PlainNames = (tags: () => Iterable<Tag>, isFine: boolean) => ReadonlySet<string>;

function createNameAnswer(
  form: TagForm,
  addRows: RowNames,
  { packed, plainOf }: { readonly packed: PackedNames; readonly plainOf: PlainNames },
): NameAnswer {
  const header = createNameHeader(form);
  const { words, placeOf } = packed;
  /** Returns a header with these names and the name of all answers; undefined if there is no room. */
  const written = ({ fixed, rows }: CollectedTags, plain: ReadonlySet<string>) => {
    let expected = 1 + fixed.length;
    for (const { hits } of rows) expected += hits.sources.length;
    header.begin(expected);
    let fits = header.add(words, placeOf(GENERATION));
    for (const tag of fixed) fits &&= header.add(words, placeOf(tag));
    for (const each of rows) fits &&= addRows(each, header.add);
    return fits ? header.end(plain) : undefined;
  };
  /** Returns a header with coarse names: makes the tags of one more content type coarse until the names fit. */
  const coarse = (tags: ReadonlySet<Tag>): string | undefined => {
    const types = plainOf(() => tags, false);
    for (const coarser of coarserAndCoarser(tags)) {
      const names = written({ fixed: [...coarser], rows: [] }, types);
      if (names !== undefined) return names;
    }
    return written(ONLY_EVERYTHING, types);
  };
  return (collected) => {
    if (collected !== undefined) {
      const all = () => allTags(collected);
      const some = written(collected, plainOf(all, true)) ?? coarse(all());
      if (some !== undefined) return some;
    }
    return written(ONLY_EVERYTHING, NO_NAMES) as string;
  };
}

function plainNames(registry: SchemaRegistry, tags: Iterable<Tag>, isFine: boolean): ReadonlySet<string> {
  const names = new Set<string>();
  for (const tag of tags) {
    const { type, documentId } = partsOfTag(tag);
    const plural = pluralOf(registry, type);
    if (plural === undefined) continue;
    names.add(plural);
    if (!isFine || documentId === undefined || !PLAIN_ID.test(documentId)) continue;
    const named = `${plural}:${documentId}`;
    if (named.length <= LONGEST_PLAIN) names.add(named);
  }
  return names;
}

/** Returns whether shared answers may depend on a tag. They show no drafts, but searches by words and single types depend on drafts. */
function isShared(tag: Tag): boolean {
  const { kind, world } = partsOfTag(tag);
  return world !== 'draft' || kind === 'a' || kind === 'w';
}

/** Returns the tag of all rows of a content type in a world. A change with a tag has its coarse tag as well. */
function coarseTag(tag: Tag): Tag {
  const { kind, world, type } = partsOfTag(tag);
  return kind === 'w' ? tag : `t ${world} ${type}`;
}

/** Yields the tags with one more coarse content type each time. The type with the most tags comes first. */
function* coarserAndCoarser(tags: ReadonlySet<Tag>): Generator<ReadonlySet<Tag>> {
  const groups = Map.groupBy(tags, coarseTag);
  const coarse = new Set(tags);
  for (const [one, fine] of [...groups].sort(([, a], [, b]) => b.length - a.length)) {
    for (const tag of fine) coarse.delete(tag);
    yield coarse.add(one);
  }
}

function pluralOf({ contentTypes }: SchemaRegistry, type: Uid): string | undefined {
  const found = contentTypes.get(type);
  return found?.kind === 'singleType' ? found.singularName : found?.pluralName;
}
