import { valueAt } from '../../shared/map-values.ts';
import type { ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import { remembered } from '../../shared/remembered.ts';
import { EVERY_TYPE, type InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import type { SynonymGroups, Uid } from '../../shared/schema/content-type.ts';

/** Returns `index` with these synonyms in all of its searches. They are part of a search, so no index changes. */
export function searchWithSynonyms(index: ReadIndex, synonyms: InstalledSynonyms): ReadIndex {
  if (Object.keys(synonyms).length === 0) return index;
  const extended = <Request extends SearchRequest>(request: Request): Request => {
    const { text, type } = request;
    return text === undefined
      ? request
      : { ...request, text: { ...text, synonyms: groupsOf(synonyms, type) } };
  };
  return {
    ...index,
    search: (request) => index.search(extended(request)),
    searchMany: (requests) => index.searchMany(requests.map(extended)),
  };
}

const byType = remembered((_: InstalledSynonyms) => new Map<Uid, readonly SynonymGroups[]>());

/** Returns the synonyms of a content type. It is the same object at every call, because an index prepares it once. */
function groupsOf(synonyms: InstalledSynonyms, type: Uid): readonly SynonymGroups[] {
  return valueAt(byType(synonyms), type, () =>
    [synonyms[EVERY_TYPE], synonyms[type]].filter((groups) => groups !== undefined),
  );
}
