import { createRecentValues } from '../../../recent-values.ts';
import type { IndexSet } from '../../index-set.ts';
import type { AnswerScope, ReadIndex, SearchRequest, World } from '../../read-index.ts';
import { outageOf } from '../wire/refusal.ts';
import { type Explanation, explainSearch } from './explain-search.ts';
import { searchRows } from './search-rows.ts';
import { openSession, type SearchContext, type Session, withCopies } from './session.ts';
import { traverseRows } from './traverse-rows.ts';

/** The read side of the port. */
export type ElasticsearchReader = Pick<ReadIndex, 'search' | 'searchMany' | 'traverse' | 'answer'> & {
  /** Explains how a search is executed. */
  explain(request: Parameters<ReadIndex['search']>[0]): Promise<Explanation>;
};

export type ElasticsearchReaderOptions = Omit<SearchContext, 'totals' | 'uncopied'>;

/** Maximum number of cached totals of far pages. */
const CACHED_TOTALS = 1_000;

/**
 * Creates a reader of the indices of a cluster. Throws 400 for requests beyond Elasticsearch's limits, and 503 if the cluster cannot be
 * reached.
 */
export function createElasticsearchReader(options: ElasticsearchReaderOptions): ElasticsearchReader {
  const context: SearchContext = {
    ...options,
    totals: createRecentValues(CACHED_TOTALS / 2),
    uncopied: new Set(),
  };
  const sessions = new WeakMap<AnswerScope, Session>();
  const sets = new WeakMap<AnswerScope, IndexSet>();
  const sessionOn = (set: IndexSet, answer: AnswerScope | undefined, world: World): Session => {
    if (answer === undefined) return openSession(context, world, set);
    // Meanwhile another request of the same answer may have set the index set.
    const pinned = sets.get(answer) ?? set;
    const known = sessions.get(answer);
    const session = known?.world === world ? known : openSession(context, world, pinned);
    sets.set(answer, pinned);
    sessions.set(answer, session);
    return session;
  };
  const sessionOf = (answer: AnswerScope | undefined, world: World): Session | Promise<Session> => {
    const set = (answer && sets.get(answer)) ?? context.indices.get();
    if (!(set instanceof Promise)) return sessionOn(set, answer, world);
    return set.then(
      (found) => sessionOn(found, answer, world),
      (error: unknown) => {
        throw outageOf(error);
      },
    );
  };
  const search = async (request: SearchRequest) => {
    const session = sessionOf(request.answer, request.world);
    return withCopies(session instanceof Promise ? await session : session, (each) =>
      searchRows(each, request),
    );
  };
  return {
    search,
    searchMany: (requests) => Promise.all(requests.map(search)),
    async traverse(request) {
      const session = sessionOf(request.answer, request.world);
      return withCopies(session instanceof Promise ? await session : session, (each) =>
        traverseRows(each, request),
      );
    },
    answer: (work) => work({}),
    explain: async (request) =>
      explainSearch(context, request, (await sessionOf(request.answer, request.world)).sent),
  };
}
