import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type AnswerTags, createAnswerTags } from './answer-tags.ts';
import { hashKey } from './hash-key.ts';
import { createRecentKeys } from './recent-keys.ts';
import type { Tag } from './tag.ts';
import type { TagPositions } from './tag-positions.ts';
import type { TagField } from './tagging.ts';

/** An answer that was sent before. */
export type KnownAnswer = {
  readonly etag: string;
  /** Route of the answer, for metrics. Absent: only that route sends it. */
  readonly route?: string | undefined;
  /** True: the answer shows drafts. */
  readonly isDraft: boolean;
  /** Position of the index when the answer was made. */
  readonly position: bigint;
  /** undefined: any change of content may change the answer. */
  readonly tags?: ReadonlySet<Tag> | undefined;
  /** Header with the tags, if shared caches get tags. */
  readonly tagged?: TagField | undefined;
  /** undefined: only its ETag is remembered. */
  readonly body?: Uint8Array | undefined;
};

/** Answers to callers with equal rights, by their request. */
export type KnownAnswers = {
  /** Returns the current answer to this request; undefined if no valid answer is known. */
  find(key: string): KnownAnswer | undefined;
  /**
   * Returns whether the same request came so recently that the memory would still have its answer. Only answers to such requests are
   * remembered with their body. Always false if bodies are not remembered.
   */
  isRepeated(key: string): boolean;
  keep(key: string, answer: KnownAnswer): void;
  /** Returns the tags of a new answer. The answer is remembered until one of them changes. */
  collect(): AnswerTags;
  /** Current position of the index. */
  position(): bigint;
  readonly keepsBodies: boolean;
  /** Counts the requests of all callers. */
  readonly counts: AnswerCounts;
};

/** Numbers of requests that got a known answer, and of requests that could have got one. */
export type AnswerCounts = { hits: number; misses: number };

/** The memory for all known answers of a process. */
export type AnswerMemory = {
  /** Returns new known answers, for callers with other rights. */
  create(): KnownAnswers;
  bytes(): number;
  readonly counts: AnswerCounts;
};

export type AnswerMemoryOptions = {
  readonly maxBytes: number;
  /** False: only ETags are remembered. */
  readonly keepsBodies: boolean;
  /** Position of the index. An index in the process has one state at each position. */
  readonly position: () => bigint;
  readonly registry: SchemaRegistry;
  readonly positions: TagPositions;
};

/** Bytes of an entry besides its key and body: map, objects and ETag. */
const ENTRY_BYTES = 450;
/** Bytes of a tag in a set. Other answers may share its text, but that is not counted on. */
const TAG_BYTES = 150;
/** Bytes of a tag's name in a header. */
const TAG_NAME_BYTES = 9;
/** The body of one answer takes at most this fraction of the memory. */
const LARGEST_PART = 16;
/** Assumed average size of answers, until some were remembered. */
const USUAL_BYTES = 16 * 1024;
/** Number of recent answers in the moving average of sizes. */
const AVERAGED = 64;
/** Answers to requests with longer keys are not worth the memory. */
const LONGEST_KEY = 4_096;

/**
 * Creates a memory of about `maxBytes` in two halves. When the newer half is full, the older half is dropped, with all answers that nobody
 * has requested since.
 */
export function createAnswerMemory(options: AnswerMemoryOptions): AnswerMemory {
  const { keepsBodies, maxBytes, position, positions, registry } = options;
  const halves: { newer: Answers; older: Answers }[] = [];
  const bytes = { newer: 0, older: 0 };
  const counts = { hits: 0, misses: 0 };
  const recent = keepsBodies ? createRecentKeys() : undefined;
  let usualBytes = USUAL_BYTES;
  /** Number of answers that fill a half. An answer that is requested less often would be dropped before its next request. */
  const window = () => maxBytes / 2 / usualBytes;
  const drop = () => {
    for (const half of halves) {
      half.older = half.newer;
      half.newer = new Map();
    }
    bytes.older = bytes.newer;
    bytes.newer = 0;
  };
  /** Replaces an answer whose key has the same hash. */
  const keepIn = (half: { newer: Answers }, hash: number, kept: Kept): void => {
    const before = half.newer.get(hash);
    if (before !== undefined) bytes.newer -= sizeOf(before);
    const size = sizeOf(kept);
    if (bytes.newer + size > maxBytes / 2) drop();
    bytes.newer += size;
    half.newer.set(hash, kept);
  };
  /** Returns the answer at the current position, if no change concerns it. */
  const upToDate = (answer: KnownAnswer): KnownAnswer | undefined => {
    const now = position();
    const { tags } = answer;
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
/** Answers by the hash of their key. */
type Answers = Map<number, Kept>;

function answerIn(answers: Answers, hash: number, key: string): KnownAnswer | undefined {
  const kept = answers.get(hash);
  return kept?.key === key ? kept.answer : undefined;
}

/** Hashes the keys of one caller. Remembers the last hash, because several calls in a row have the same key. */
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

/** Copies a body that is part of a larger buffer: otherwise the whole buffer would stay in memory. */
function ownBytes(body: Uint8Array): Uint8Array {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  own.set(body);
  return own;
}
