import type { SearchAnswer, SearchOutcome } from './search-answer.ts';
import type { WrittenSearch } from './write-search.ts';

export type JoinSearchesOptions = {
  /** Sends searches in one request. Their outcomes, in the same order; rejects when there is none at all. */
  readonly send: (searches: readonly WrittenSearch[]) => Promise<readonly SearchOutcome[]>;
  /** Milliseconds, from anywhere on. */
  readonly now: () => number;
};

/**
 * Of one request: together they cost the cluster and this process about two thirds of what they cost one by one. Few enough for
 * another request to be under way while these are read.
 */
const MOST_TOGETHER = 4;
/**
 * Searches of one request are answered with the slowest of them. Where searches take this long (milliseconds) what they cost
 * beside being carried out is nothing, so for a while each is sent by itself.
 */
const SLOW = 100;
const APART_FOR = 1_000;

type Waiting = {
  readonly searches: readonly WrittenSearch[];
  readonly answers: PromiseWithResolvers<readonly SearchAnswer[]>;
};

/**
 * Sends searches that are asked for in one turn of the event loop, by whomever, in one request; nobody waits for others to come.
 * What is asked for twice in it is sent once. Rejects for those alone who asked for what failed.
 */
export function joinSearches({
  send,
  now,
}: JoinSearchesOptions): (searches: readonly WrittenSearch[]) => Promise<readonly SearchAnswer[]> {
  let waiting: Waiting[] = [];
  let apartUntil = Number.NEGATIVE_INFINITY;
  const sendTogether = async (together: readonly Waiting[]) => {
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
  };
  const sendWaiting = () => {
    const asked = waiting;
    waiting = [];
    for (const together of groups(asked, now() < apartUntil ? 1 : MOST_TOGETHER)) void sendTogether(together);
  };
  return (searches) => {
    // When all that came in with this turn has been looked at.
    if (waiting.length === 0) setImmediate(sendWaiting);
    const answers = Promise.withResolvers<readonly SearchAnswer[]>();
    waiting.push({ searches, answers });
    return answers.promise;
  };
}

/** Those that are read in the same way, at most so many searches; what one asks for at once stays together. */
function groups(asked: readonly Waiting[], most: number): readonly (readonly Waiting[])[] {
  const found: Waiting[][] = [];
  for (const isPlain of [true, false]) {
    let group: Waiting[] = [];
    let size = 0;
    for (const each of asked) {
      if (each.searches.every((search) => search.isPlain) !== isPlain) continue;
      if (group.length === 0 || size + each.searches.length > most) {
        group = [];
        size = 0;
        found.push(group);
      }
      group.push(each);
      size += each.searches.length;
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
