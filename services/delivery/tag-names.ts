import type { World } from '../../shared/read-index/read-index.ts';
import { createRecentValues } from '../../shared/recent-values.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { hmac } from '../../shared/text-digest.ts';
import { allTags, type CollectedTags } from './answer-tags.ts';
import { documentIdOf } from './read-source.ts';
import { documentTag, partsOfTag, type Tag } from './tag.ts';
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
  /** Returns a function that writes the names of an answer as a header of this form. */
  answers(form: TagForm): NameAnswer;
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

/** Number of characters in a name, in the notation of base 36. */
const NAME_LENGTH = 8;
/** Number of bytes that a name represents. Tags that have the same name by chance are purged together. */
const DIGEST_BYTES = 5;
/** Number of remembered names is at most twice this, besides those of rows. */
const RECENT_NAMES = 20_000;

/** Creates names that are equal in all processes with the same key. `plain` adds readable names, such as `restaurants:<documentId>`. */
export function createTagNames({ key, registry, plain }: TagNamesOptions): TagNames {
  const nameOf = createNames(key);
  const plainOf: PlainNames = (tags, isFine) => (plain ? plainNames(registry, tags(), isFine) : NO_NAMES);
  return {
    generation: nameOf(GENERATION),
    everything: nameOf(EVERYTHING),
    answers: (form) => createNameAnswer(form, { nameOf, nameOfRow: createRowNames(nameOf), plainOf }),
    ofChange(tags) {
      const names = new Set([nameOf(EVERYTHING)]);
      const seen = [...tags].filter(isShared);
      for (const tag of seen) names.add(nameOf(tag)).add(nameOf(coarseTag(tag)));
      return names.union(plainOf(() => seen, true));
    },
  };
}

/** Creates the function that names a text: a keyed digest. It remembers recent names. */
function createNames(key: Uint8Array): (text: string) => string {
  const known = createRecentValues<string, string>(RECENT_NAMES);
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const name = hmac(key, text).readUIntBE(0, DIGEST_BYTES).toString(36).padStart(NAME_LENGTH, '0');
    known.set(text, name);
    return name;
  };
}

type Names = {
  readonly nameOf: (text: string) => string;
  readonly nameOfRow: (type: Uid, world: World, source: Uint8Array) => string;
  readonly plainOf: PlainNames;
};

/** Remembers the names of rows in memory, because a digest takes longer than the rest of a row. A row that changes has another source. */
function createRowNames(nameOf: Names['nameOf']): Names['nameOfRow'] {
  const names = { draft: new WeakMap<Uint8Array, string>(), published: new WeakMap<Uint8Array, string>() };
  return (type, world, source) => {
    const known = names[world].get(source);
    if (known !== undefined) return known;
    const name = nameOf(documentTag(type, world, documentIdOf(source)));
    names[world].set(source, name);
    return name;
  };
}

const GENERATION = 'generation';
const EVERYTHING = 'everything';
const ONLY_EVERYTHING: CollectedTags = { fixed: [EVERYTHING], documents: [] };
const NO_NAMES: ReadonlySet<string> = new Set();

/** Returns the plain names of tags, if these are sent. `isFine`: with the names of documents. */
type PlainNames = (tags: () => Iterable<Tag>, isFine: boolean) => ReadonlySet<string>;

function createNameAnswer(
  { tags: most, bytes, separator, quote }: TagForm,
  { nameOf, nameOfRow, plainOf }: Names,
): NameAnswer {
  const between = quote + separator + quote;
  /** Returns a header with these names and the name of all answers; undefined if there is no room. */
  const written = ({ fixed, documents }: CollectedTags, plain: ReadonlySet<string>) => {
    const names = new Set([nameOf(GENERATION)]);
    for (const tag of fixed) names.add(nameOf(tag));
    for (const { type, world, sources } of documents)
      for (const source of sources) names.add(nameOfRow(type, world, source));
    for (const name of plain) names.add(name);
    if (names.size > most) return undefined;
    const header = quote + [...names].join(between) + quote;
    return header.length > bytes ? undefined : header;
  };
  /** Returns a header with coarse names: makes the tags of one more content type coarse until the names fit. */
  const coarse = (tags: ReadonlySet<Tag>): string | undefined => {
    const types = plainOf(() => tags, false);
    for (const coarser of coarserAndCoarser(tags)) {
      const names = written({ fixed: [...coarser], documents: [] }, types);
      if (names !== undefined) return names;
    }
    return written(ONLY_EVERYTHING, types);
  };
  return (collected) => {
    if (collected !== undefined) {
      const some =
        written(
          collected,
          plainOf(() => allTags(collected), true),
        ) ?? coarse(allTags(collected));
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
