import type { SearchAnswer, SearchOutcome } from './search-answer.ts';
import type { WrittenSearch } from './write-search.ts';

export type JoinSearchesOptions = {
  /** Sends searches in one request. Their outcomes, in the same order; rejects when there is none at all. */
  readonly send: (searches: readonly WrittenSearch[]) => Promise<readonly SearchOutcome[]>;
  /** Milliseconds, from anywhere on. */
  readonly now: () => number;
};

/**
 * Of one request: together they cost the cluster two thirds of what they cost one by one. Eight cost a little less, but move through
 * the processes in so few steps that cores stand still; few enough for another request to be under way while these are read.
 */
const MOST_TOGETHER = 4;
/** While so many requests are under way, what is asked for waits until one is answered, or there is enough for another. */
const UNDER_WAY = 4;
/** But no longer, in milliseconds: those under way may be slow. */
const LONGEST_WAIT = 1;
/**
 * Searches of one request are answered with the slowest of them. Where searches take this long (milliseconds) what they cost
 * beside being carried out is nothing, so for a while each is sent by itself, at once.
 */
const SLOW = 100;
const APART_FOR = 1_000;

type Waiting = {
  readonly searches: readonly WrittenSearch[];
  readonly answers: PromiseWithResolvers<readonly SearchAnswer[]>;
};

/**
 * Sends searches that are asked for at about the same time, by whomever, in one request. Nobody waits for others to come unless
 * the cluster has something to do already. What is asked for twice in a request is sent once. Rejects for those alone who asked
 * for what failed.
 */
export function joinSearches({
  send,
  now,
}: JoinSearchesOptions): (searches: readonly WrittenSearch[]) => Promise<readonly SearchAnswer[]> {
  let waiting: Waiting[] = [];
  let underWay = 0;
  let isLooking = false;
  let isWaiting = false;
  let apartUntil = Number.NEGATIVE_INFINITY;
  const sendTogether = async (together: readonly Waiting[]) => {
    underWay++;
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
    underWay--;
    if (waiting.length > 0) sendReady();
  };
  const sendReady = (isDue = false) => {
    const isApart = now() < apartUntil;
    const asked = waiting;
    waiting = [];
    for (const { group, size } of groups(asked, isApart ? 1 : MOST_TOGETHER)) {
      const isReady = isDue || isApart || underWay < UNDER_WAY || size >= MOST_TOGETHER;
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
      // When all that came in with this turn has been looked at.
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

/** Those that are read in the same way, at most so many searches; what one asks for at once stays together. */
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

/** They are few, and differ in length mostly: comparing them costs less than names for all of them. */
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
      answers.reject(outcome?.error ?? new Error('Elasticsearch gave fewer answers than it was asked for'));
      return;
    }
    found.push(outcome.answer);
  }
  answers.resolve(found);
}
