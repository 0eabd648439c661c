import type { FollowRequest, FollowResult, SearchRequest, SearchResult } from '../read-index.ts';
import { type Explanation, explainSearch } from './explain-search.ts';
import { followRows } from './follow-rows.ts';
import { searchRows } from './search-rows.ts';
import { openSession, type ReaderContext, type Session } from './session.ts';

/** Reads for one answer: what a search or follow brought along is not asked for again. */
export type AnswerReader = {
  search(request: SearchRequest): Promise<SearchResult>;
  follow(request: FollowRequest): Promise<FollowResult>;
};

export type ElasticsearchReader = AnswerReader & {
  /** `populates`: rows are followed from what is found, so their links are read along. */
  forAnswer(populates: boolean): AnswerReader;
  /** How a search is carried out. */
  explain(request: SearchRequest): Explanation;
};

/** Answers from the indices of a cluster. Throws 400 on what Elasticsearch's limits forbid, 503 when it cannot be reached. */
export function createElasticsearchReader(context: ReaderContext): ElasticsearchReader {
  return {
    search: (request) => searchRows(openSession(context, request.world), request, false),
    follow: (request) => followRows(openSession(context, request.world), request, false),
    forAnswer(populates) {
      let session: Session | undefined;
      // An answer is of one world.
      const sessionOf = (world: SearchRequest['world']) => {
        if (session?.world !== world) session = openSession(context, world);
        return session;
      };
      return {
        search: (request) => searchRows(sessionOf(request.world), request, populates),
        follow: (request) => followRows(sessionOf(request.world), request, populates),
      };
    },
    explain: (request) => explainSearch(context, request),
  };
}
