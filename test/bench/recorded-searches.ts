import { isDeepStrictEqual } from 'node:util';
import type { LoadRequest } from './measure-load.ts';
import type { RawSearches } from './raw-searches.ts';

/** Requests of Varve to Elasticsearch, which the raw engine's load sends. Each is returned once. */
export type RecordedSearches = {
  /** Average number of requests for one answer. */
  readonly perAnswer: number;
  /** Records more requests until there are enough for so many answers. */
  prepare(answers: number): Promise<void>;
  /** Returns the next request. Repeats requests, and counts that, if there are not enough. */
  next(): LoadRequest;
  readonly repeated: () => number;
};

/** Number of answers whose requests are recorded in both ways. This shows whether a request depends on earlier results. */
const COMPARED = 50;
const AT_ONCE = 8;

/** Records the searches of requests. `request` returns another one at every call. */
export async function recordSearches(
  raw: RawSearches,
  request: () => LoadRequest,
): Promise<RecordedSearches> {
  const first = Array.from({ length: COMPARED }, request);
  const asked = await record(raw.of, first);
  // A search by words fails without real answers.
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
