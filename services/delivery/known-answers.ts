import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type AnswerTags, createAnswerTags } from './answer-tags.ts';
import type { Tag } from './tag.ts';
import type { TagPositions } from './tag-positions.ts';

/** An answer that was given before. */
export type KnownAnswer = {
  readonly etag: string;
  /** It shows drafts. */
  readonly isDraft: boolean;
  /** Position of the index that it shows. */
  readonly position: bigint;
  /** undefined: any change may change it. */
  readonly tags?: ReadonlySet<Tag> | undefined;
};

/** Answers to callers with equal rights, by what they asked for. */
export type KnownAnswers = {
  /** The answer that this request gets now; undefined if that is not known. */
  find(key: string): KnownAnswer | undefined;
  keep(key: string, answer: KnownAnswer): void;
  /** Tags for an answer that is to be remembered while they do not change. */
  collect(): AnswerTags;
  /** Position of the index now. */
  position(): bigint;
};

/** Memory that all known answers of a process share. */
export type AnswerMemory = {
  /** Known answers to callers with other rights. */
  create(): KnownAnswers;
};

export type AnswerMemoryOptions = {
  readonly maxBytes: number;
  /** Position of an index that shows each position in one state only. */
  readonly position: () => bigint;
  readonly registry: SchemaRegistry;
  readonly positions: TagPositions;
};

/** Bytes of an entry besides its key: map, object and ETag. */
const ENTRY_BYTES = 250;
/** Bytes of a tag in a set; its text is shared with other answers at best. */
const TAG_BYTES = 150;

/**
 * Memory for about `maxBytes`. It has two halves: when the newer one is full, the older one is dropped, with everything
 * that was not asked for since.
 */
export function createAnswerMemory(options: AnswerMemoryOptions): AnswerMemory {
  const { position, positions, registry } = options;
  const half = options.maxBytes / 2;
  let bytes = 0;
  /** Counts how often the newer half was full. */
  let round = 0;
  const takeBytes = (more: number) => {
    bytes += more;
    if (bytes <= half) return;
    bytes = more;
    round++;
  };
  /** The same answer at the position now, if nothing has changed it. */
  const upToDate = (answer: KnownAnswer): KnownAnswer | undefined => {
    const now = position();
    if (answer.position === now) return answer;
    const { tags } = answer;
    if (tags === undefined || !positions.isUnchanged(tags, answer.position)) return undefined;
    return { ...answer, position: now };
  };
  return {
    create() {
      let newer = new Map<string, KnownAnswer>();
      let older: typeof newer | undefined;
      let ownRound = round;
      const turn = () => {
        if (ownRound === round) return;
        older = ownRound === round - 1 ? newer : undefined;
        newer = new Map();
        ownRound = round;
      };
      const keep = (key: string, answer: KnownAnswer): void => {
        const isKnown = newer.get(key)?.tags?.size === answer.tags?.size && newer.has(key);
        if (!isKnown) takeBytes(2 * key.length + ENTRY_BYTES + TAG_BYTES * (answer.tags?.size ?? 0));
        turn();
        newer.set(key, answer);
      };
      return {
        find(key) {
          turn();
          const recent = newer.get(key);
          const known = recent ?? older?.get(key);
          const answer = known && upToDate(known);
          if (answer !== undefined && answer !== recent) keep(key, answer);
          return answer;
        },
        keep,
        collect() {
          positions.watch();
          return createAnswerTags(registry);
        },
        position,
      };
    },
  };
}
