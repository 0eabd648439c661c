import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type AnswerTags, createAnswerTags } from './answer-tags.ts';
import { hashKey } from './hash-key.ts';
import { createRecentKeys } from './recent-keys.ts';
import type { Tag } from './tag.ts';
import type { TagPositions } from './tag-positions.ts';
import type { TagField } from './tagging.ts';

/** An answer that was given before. */
export type KnownAnswer = {
  readonly etag: string;
  /** The route that made it, by which its requests are measured. Absent: only that route sends it. */
  readonly route?: string | undefined;
  /** It shows drafts. */
  readonly isDraft: boolean;
  /** Position of the index that it shows. */
  readonly position: bigint;
  /** State of an index outside the process; see `OutsideIndex`. */
  readonly state?: string | undefined;
  /** undefined: any change may change it. */
  readonly tags?: ReadonlySet<Tag> | undefined;
  /** Header for shared caches, if they get tags. */
  readonly tagged?: TagField | undefined;
  /** undefined: only its ETag is remembered. */
  readonly body?: Uint8Array | undefined;
};

/** Answers to callers with equal rights, by what they asked for. */
export type KnownAnswers = {
  /** The answer that this request gets now; undefined if that is not known. */
  find(key: string): KnownAnswer | undefined;
  /**
   * True if the same was asked so lately that its answer would have been remembered until now: then it is worth
   * remembering as a whole, and may be found. Always false if bodies are not remembered.
   */
  isRepeated(key: string): boolean;
  keep(key: string, answer: KnownAnswer): void;
  /** Tags for an answer that is to be remembered while they do not change. */
  collect(): AnswerTags;
  /** Position of the index now. */
  position(): bigint;
  /** Absent: the index is in the process. */
  readonly outside?: OutsideIndex | undefined;
  readonly keepsBodies: boolean;
  /** Counts the requests of all callers. */
  readonly counts: AnswerCounts;
};

/** An index outside the process, which may show several states at one position. */
export type OutsideIndex = {
  /** Resolves when all changes are known that a search showed before the call. Rejects if they cannot be read. */
  look(): Promise<void>;
  /** An answer stays known while this has the value of before it was made. undefined: no answer is. */
  state(): string | undefined;
};

/** Requests that a known answer was sent to, and others that could have had one. */
export type AnswerCounts = { hits: number; misses: number };

/** Memory that all known answers of a process share. */
export type AnswerMemory = {
  /** Known answers to callers with other rights. */
  create(): KnownAnswers;
  bytes(): number;
  readonly counts: AnswerCounts;
};

export type AnswerMemoryOptions = {
  readonly maxBytes: number;
  /** False: only ETags are remembered. */
  readonly keepsBodies: boolean;
  /** Position of an index that shows each position in one state only. */
  readonly position: () => bigint;
  readonly registry: SchemaRegistry;
  readonly positions: TagPositions;
  readonly outside?: OutsideIndex | undefined;
};

/** Bytes of an entry besides its key and body: map, objects and ETag. */
const ENTRY_BYTES = 450;
/** Bytes of a tag in a set; its text is shared with other answers at best. */
const TAG_BYTES = 150;
/** Bytes of its name in a header. */
const TAG_NAME_BYTES = 9;
/** Larger parts of the memory are not for one answer. */
const LARGEST_PART = 16;
/** Bytes of an answer, until some were remembered. */
const USUAL_BYTES = 16 * 1024;
/** Answers whose size counts in the average. */
const AVERAGED = 64;
/** Answers to requests with longer keys are not worth the memory. */
const LONGEST_KEY = 4_096;

/**
 * Memory for about `maxBytes`. It has two halves: when the newer one is full, the older one is dropped, with everything
 * that was not asked for since.
 */
export function createAnswerMemory(options: AnswerMemoryOptions): AnswerMemory {
  const { keepsBodies, maxBytes, position, positions, registry, outside } = options;
  const halves: { newer: Answers; older: Answers }[] = [];
  const bytes = { newer: 0, older: 0 };
  const counts = { hits: 0, misses: 0 };
  const recent = keepsBodies ? createRecentKeys() : undefined;
  let usualBytes = USUAL_BYTES;
  /** As many answers stay until the newer half is full: what is asked for less often would be dropped before it is asked again. */
  const window = () => maxBytes / 2 / usualBytes;
  const drop = () => {
    for (const half of halves) {
      half.older = half.newer;
      half.newer = new Map();
    }
    bytes.older = bytes.newer;
    bytes.newer = 0;
  };
  /** An answer takes the place of one whose key has the same hash. */
  const keepIn = (half: { newer: Answers }, hash: number, kept: Kept): void => {
    const before = half.newer.get(hash);
    if (before !== undefined) bytes.newer -= sizeOf(before);
    const size = sizeOf(kept);
    if (bytes.newer + size > maxBytes / 2) drop();
    bytes.newer += size;
    half.newer.set(hash, kept);
  };
  /** The same answer at the position now, if nothing has changed it. */
  const upToDate = (answer: KnownAnswer): KnownAnswer | undefined => {
    const now = position();
    const { tags } = answer;
    if (outside !== undefined) {
      if (answer.state === undefined || answer.state !== outside.state() || tags === undefined)
        return undefined;
      // The position now may be one of changes after the last look.
      return positions.isUnchanged(tags, answer.position) ? answer : undefined;
    }
    if (answer.position === now) return answer;
    if (tags === undefined || !positions.isUnchanged(tags, answer.position)) return undefined;
    return { ...answer, position: now };
  };
  return {
    counts,
    bytes: () => bytes.newer + bytes.older,
    create() {
      const half = { newer: new Map(), older: new Map() };
      const caller = halves.push(half);
      const hashOf = createHashOf(caller);
      return {
        counts,
        keepsBodies,
        position,
        outside,
        find(key) {
          const hash = hashOf(key);
          const known = answerIn(half.newer, hash, key);
          const found = known ?? answerIn(half.older, hash, key);
          const answer = found && upToDate(found);
          if (answer !== undefined && answer !== known) keepIn(half, hash, { key, answer });
          return answer;
        },
        isRepeated: (key) =>
          recent !== undefined && key.length <= LONGEST_KEY && recent(hashOf(key), window()),
        keep(key, answer) {
          const size = sizeOf({ key, answer });
          if (answer.body !== undefined) usualBytes += (size - usualBytes) / AVERAGED;
          const isLarge = size > maxBytes / LARGEST_PART;
          const body = isLarge ? undefined : answer.body && ownBytes(answer.body);
          keepIn(half, hashOf(key), { key, answer: { ...answer, body } });
        },
        collect() {
          positions.watch();
          return createAnswerTags(registry);
        },
      };
    },
  };
}

type Kept = { readonly key: string; readonly answer: KnownAnswer };
/** By the hash of the key. */
type Answers = Map<number, Kept>;

function answerIn(answers: Answers, hash: number, key: string): KnownAnswer | undefined {
  const kept = answers.get(hash);
  return kept?.key === key ? kept.answer : undefined;
}

/** Hashes the keys of one caller, and remembers the last hash: several things are asked about one key in a row. */
function createHashOf(seed: number): (key: string) => number {
  let last = '';
  let hash = hashKey(last, seed);
  return (key) => {
    if (key === last) return hash;
    last = key;
    hash = hashKey(key, seed);
    return hash;
  };
}

function sizeOf({ key, answer: { tags, tagged, body } }: Kept): number {
  const count = tags?.size ?? 0;
  const named = tagged === undefined ? 0 : TAG_NAME_BYTES * count;
  return 2 * key.length + ENTRY_BYTES + TAG_BYTES * count + named + (body?.length ?? 0);
}

/** A small buffer is a part of a larger one, which it would keep in memory. */
function ownBytes(body: Uint8Array): Uint8Array {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  own.set(body);
  return own;
}
