import type { SearchAnswer, SearchOutcome } from './search-answer.ts';
import type { WrittenSearch } from './write-search.ts';

export type JoinSearchesOptions = {
  /** Sends searches in one request. Returns their outcomes in the same order. Rejects if there is no outcome at all. */
  readonly send: (searches: readonly WrittenSearch[]) => Promise<readonly SearchOutcome[]>;
  /** Returns milliseconds from any starting point. */
  readonly now: () => number;
};

/**
 * Maximum searches of one request. Together they cost the cluster two thirds of their single costs. Eight cost slightly less, but move
 * through the processes in so few steps that cores are idle. With four, another request is in flight while the answers of one are read.
 */
const MOST_TOGETHER = 4;
/**
 * Number of requests in flight from which a search waits. It waits until one is answered, or until there are enough searches for another
 * request.
 */
const MOST_IN_FLIGHT = 4;
/** Maximum wait in milliseconds, because the requests in flight may be slow. */
const LONGEST_WAIT = 1;
/**
 * Searches of one request are answered with the slowest. If searches take this long (milliseconds), the overhead of a request does not
 * matter. Then for a while each search is sent separately and at once.
 */
const SLOW = 100;
const APART_FOR = 1_000;

type Waiting = {
  readonly searches: readonly WrittenSearch[];
  readonly answers: PromiseWithResolvers<readonly SearchAnswer[]>;
};

/**
 * Sends searches that start at about the same time, from any caller, in one request. A search waits for others only if the cluster is
 * already busy. Equal searches of a request are sent once. A failure rejects only the callers of the failed search.
 */
export function joinSearches({
  send,
  now,
}: JoinSearchesOptions): (searches: readonly WrittenSearch[]) => Promise<readonly SearchAnswer[]> {
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let isLooking = false;
  let isWaiting = false;
  let apartUntil = Number.NEGATIVE_INFINITY;
  const sendTogether = async (together: readonly Waiting[]) => {
    inFlight++;
    try {
      const started = now();
      const distinct = distinctSearches(together);
      const outcomes = await send(distinct);
      for (const { searches, answers } of together) settle(answers, searches, distinct, outcomes);
      const ended = now();
      if (ended - started >= SLOW) apartUntil = ended + APART_FOR;
    } catch (error) {
      for (const { answers } of together) answers.reject(error);
    }
    inFlight--;
    if (waiting.length > 0) sendReady();
  };
  const sendReady = (isDue = false) => {
    const isApart = now() < apartUntil;
    const asked = waiting;
    waiting = [];
    for (const { group, size } of groups(asked, isApart ? 1 : MOST_TOGETHER)) {
      const isReady = isDue || isApart || inFlight < MOST_IN_FLIGHT || size >= MOST_TOGETHER;
      // Never rejects: the callers get a failure.
      if (isReady) void sendTogether(group);
      else waiting.push(...group);
    }
    if (waiting.length === 0 || isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      sendReady(true);
    }, LONGEST_WAIT);
  };
  return (searches) => {
    if (!isLooking) {
      isLooking = true;
      // This runs after everything that arrived in this turn was handled.
      setImmediate(() => {
        isLooking = false;
        sendReady();
      });
    }
    const answers = Promise.withResolvers<readonly SearchAnswer[]>();
    waiting.push({ searches, answers });
    return answers.promise;
  };
}

type Group = { readonly group: Waiting[]; size: number };

/** Groups searches whose answers are read in the same way, up to a limit. The searches of one caller stay together. */
function groups(asked: readonly Waiting[], most: number): readonly Group[] {
  const found: Group[] = [];
  for (const isPlain of [true, false]) {
    let last: Group | undefined;
    for (const each of asked) {
      if (each.searches.every((search) => search.isPlain) !== isPlain) continue;
      if (last === undefined || last.size + each.searches.length > most) {
        last = { group: [], size: 0 };
        found.push(last);
      }
      last.group.push(each);
      last.size += each.searches.length;
    }
  }
  return found;
}

/** Returns the searches without repetitions. They are few and mostly differ in length, so comparing them costs less than a key for each. */
function distinctSearches(together: readonly Waiting[]): readonly WrittenSearch[] {
  const distinct: WrittenSearch[] = [];
  for (const { searches } of together) {
    for (const each of searches) if (placeIn(distinct, each) < 0) distinct.push(each);
  }
  return distinct;
}

function placeIn(distinct: readonly WrittenSearch[], { index, text }: WrittenSearch): number {
  return distinct.findIndex((each) => each.text === text && each.index === index);
}

function settle(
  answers: PromiseWithResolvers<readonly SearchAnswer[]>,
  searches: readonly WrittenSearch[],
  distinct: readonly WrittenSearch[],
  outcomes: readonly SearchOutcome[],
): void {
  const found: SearchAnswer[] = [];
  for (const each of searches) {
    const outcome = outcomes[placeIn(distinct, each)];
    if (outcome?.kind !== 'answered') {
      answers.reject(
        outcome?.error ?? new Error('Elasticsearch returned fewer answers than the request has searches'),
      );
      return;
    }
    found.push(outcome.answer);
  }
  answers.resolve(found);
}
