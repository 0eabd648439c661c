import type {
  AnswerScope,
  ReadIndex,
  SearchRequest,
  SearchResult,
} from '../../shared/read-index/read-index.ts';

/** Notes a search that was answered. */
export type NoteSearch = (request: SearchRequest, result: SearchResult) => void;

type Searched = readonly [SearchRequest, SearchResult];

/**
 * Returns `index` with a note of each search of an answer. Searches of an answer that was not sent are not noted: those before it started
 * again, or failed.
 */
export function countSearches(index: ReadIndex, note: NoteSearch): ReadIndex {
  const searchedFor = new WeakMap<AnswerScope, Searched[]>();
  const keep = (request: SearchRequest, result: SearchResult) => {
    if (request.answer !== undefined) searchedFor.get(request.answer)?.push([request, result]);
    return result;
  };
  return {
    ...index,
    search: async (request) => keep(request, await index.search(request)),
    async searchMany(requests) {
      const results = await index.searchMany(requests);
      for (const [at, request] of requests.entries()) keep(request, results[at] as SearchResult);
      return results;
    },
    async answer(work, terms) {
      let searched: Searched[] = [];
      const result = await index.answer((scope) => {
        searched = [];
        searchedFor.set(scope, searched);
        return work(scope);
      }, terms);
      for (const [request, found] of searched) note(request, found);
      return result;
    },
  };
}
