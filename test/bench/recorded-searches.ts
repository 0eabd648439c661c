import { isDeepStrictEqual } from 'node:util';
import type { LoadRequest } from './measure-load.ts';
import type { RawSearches } from './raw-searches.ts';

/** Requests of Varve's for the raw engine, each handed out once. */
export type RecordedSearches = {
  /** Requests that one answer takes, on average. */
  readonly perAnswer: number;
  /** Sees to it that there are requests for so many answers. */
  prepare(answers: number): Promise<void>;
  /** Starts over, and counts it, when more are taken than were prepared. */
  next(): LoadRequest;
  readonly repeated: () => number;
};

/** Answers whose requests are recorded both ways, to see whether what is sent depends on what is found. */
const COMPARED = 50;
const AT_ONCE = 8;

/** `request` gives another one every time. */
export async function recordSearches(
  raw: RawSearches,
  request: () => LoadRequest,
): Promise<RecordedSearches> {
  const first = Array.from({ length: COMPARED }, request);
  const asked = await record(raw.of, first);
  // A search by words does not get on without answers.
  const unasked = await record(raw.unasked, first).catch(() => undefined);
  const recordOne = isDeepStrictEqual(asked.slice(1), unasked?.slice(1)) ? raw.unasked : raw.of;
  const perAnswer = asked.flat().length / COMPARED;
  const requests = asked.flat();
  let taken = 0;
  let repeated = 0;
  return {
    perAnswer,
    async prepare(answers) {
      const more = Math.max(0, answers - (requests.length - taken) / perAnswer);
      requests.push(...(await record(recordOne, Array.from({ length: Math.ceil(more) }, request))).flat());
    },
    next() {
      if (taken >= requests.length) repeated++;
      return requests[taken++ % requests.length] as LoadRequest;
    },
    repeated: () => repeated,
  };
}

async function record(
  requestsOf: RawSearches['of'],
  answered: readonly LoadRequest[],
): Promise<readonly (readonly LoadRequest[])[]> {
  const recorded: (readonly LoadRequest[])[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < answered.length; i = next++)
      recorded[i] = await requestsOf(answered[i] as LoadRequest);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return recorded;
}
