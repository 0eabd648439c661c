import type { AnswerScope, ReadIndex, World } from '../read-index.ts';
import { type Explanation, explainSearch } from './explain-search.ts';
import { followRows } from './follow-rows.ts';
import { searchRows } from './search-rows.ts';
import { openSession, type ReaderContext, type Session } from './session.ts';

/** The reading side of the port. */
export type ElasticsearchReader = Pick<ReadIndex, 'search' | 'follow'> & {
  /** How a search is carried out. */
  explain(request: Parameters<ReadIndex['search']>[0]): Promise<Explanation>;
};

export type ElasticsearchReaderOptions = Omit<ReaderContext, 'totals'>;

/** Answers from the indices of a cluster. Throws 400 on what Elasticsearch's limits forbid, 503 when it cannot be reached. */
export function createElasticsearchReader(options: ElasticsearchReaderOptions): ElasticsearchReader {
  const context: ReaderContext = { ...options, totals: new Map() };
  const sessions = new WeakMap<AnswerScope, Session>();
  const sessionOf = (answer: AnswerScope | undefined, world: World): Session => {
    const known = answer === undefined ? undefined : sessions.get(answer);
    if (known?.world === world) return known;
    const session = openSession(context, world);
    if (answer !== undefined) sessions.set(answer, session);
    return session;
  };
  return {
    search: async (request) => searchRows(sessionOf(request.answer, request.world), request),
    follow: async (request) => followRows(sessionOf(request.answer, request.world), request),
    explain: async (request) =>
      explainSearch(context, request, sessionOf(request.answer, request.world).sent),
  };
}
