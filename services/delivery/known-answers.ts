/** An answer that was given before. */
export type KnownAnswer = {
  readonly etag: string;
  /** It shows drafts. */
  readonly isDraft: boolean;
  /** Position of the index that it shows. */
  readonly position: bigint;
};

/** Answers to callers with equal rights, by what they asked for. */
export type KnownAnswers = {
  /** The answer that this request gets now; undefined if that is not known. */
  find(key: string): KnownAnswer | undefined;
  keep(key: string, answer: KnownAnswer): void;
  /** Position of the index now. */
  position(): bigint;
};

/** Memory that all known answers of a process share. */
export type AnswerMemory = {
  /** Known answers to callers with other rights. */
  create(): KnownAnswers;
};

/** Bytes of an entry besides its key: map, object and ETag. */
const ENTRY_BYTES = 250;

type Entries = Map<string, KnownAnswer>;

/**
 * Memory for about `maxBytes`. It has two halves: when the newer one is full, the older one is dropped, with everything
 * that was not asked for since. `position`: that of an index which shows each position in one state only.
 */
export function createAnswerMemory(maxBytes: number, position: () => bigint): AnswerMemory {
  const half = maxBytes / 2;
  let bytes = 0;
  /** Counts how often the newer half was full. */
  let round = 0;
  const takeBytes = (more: number) => {
    bytes += more;
    if (bytes <= half) return;
    bytes = more;
    round++;
  };
  return {
    create() {
      let newer: Entries = new Map();
      let older: Entries | undefined;
      let ownRound = round;
      const turn = () => {
        if (ownRound === round) return;
        older = ownRound === round - 1 ? newer : undefined;
        newer = new Map();
        ownRound = round;
      };
      const keep = (key: string, answer: KnownAnswer): void => {
        if (!newer.has(key)) takeBytes(2 * key.length + ENTRY_BYTES);
        turn();
        newer.set(key, answer);
      };
      return {
        find(key) {
          turn();
          const recent = newer.get(key);
          const answer = recent ?? older?.get(key);
          if (answer === undefined || answer.position !== position()) return undefined;
          if (recent === undefined) keep(key, answer);
          return answer;
        },
        keep,
        position,
      };
    },
  };
}
