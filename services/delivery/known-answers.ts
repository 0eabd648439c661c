import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type AnswerTags, createAnswerTags } from './answer-tags.ts';
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
/** Maximum number of characters in half of the recent keys. */
const RECENT_CHARACTERS = 4 * 2 ** 20;

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
  const keepIn = (half: { newer: Answers }, key: string, answer: KnownAnswer): void => {
    const before = half.newer.get(key);
    if (before !== undefined) bytes.newer -= sizeOf(key, before);
    const size = sizeOf(key, answer);
    if (bytes.newer + size > maxBytes / 2) drop();
    bytes.newer += size;
    half.newer.set(key, answer);
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
      const half = { newer: new Map<string, KnownAnswer>(), older: new Map<string, KnownAnswer>() };
      const caller = halves.push(half);
      return {
        counts,
        keepsBodies,
        position,
        find(key) {
          const known = half.newer.get(key);
          const found = known ?? half.older.get(key);
          const answer = found && upToDate(found);
          if (answer !== undefined && answer !== known) keepIn(half, key, answer);
          return answer;
        },
        isRepeated: (key) =>
          recent !== undefined && key.length <= LONGEST_KEY && recent(`${caller} ${key}`, window()),
        keep(key, answer) {
          const size = sizeOf(key, answer);
          if (answer.body !== undefined) usualBytes += (size - usualBytes) / AVERAGED;
          const isLarge = size > maxBytes / LARGEST_PART;
          const body = isLarge ? undefined : answer.body && ownBytes(answer.body);
          keepIn(half, key, { ...answer, body });
        },
        collect() {
          positions.watch();
          return createAnswerTags(registry);
        },
      };
    },
  };
}

/** Answers by their key. */
type Answers = Map<string, KnownAnswer>;

/**
 * Creates a memory of recent keys. Its function remembers a key, and returns whether the key was among the last half of `window` different
 * keys. It may still know a key among the last `window`.
 */
function createRecentKeys(): (key: string, window: number) => boolean {
  let newer = new Set<string>();
  let older = new Set<string>();
  let characters = 0;
  return (key, window) => {
    if (newer.has(key)) return true;
    newer.add(key);
    characters += key.length;
    const isKnown = older.has(key);
    if (newer.size * 2 >= window || characters >= RECENT_CHARACTERS) {
      older = newer;
      newer = new Set();
      characters = 0;
    }
    return isKnown;
  };
}

function sizeOf(key: string, { tags, tagged, body }: KnownAnswer): number {
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
