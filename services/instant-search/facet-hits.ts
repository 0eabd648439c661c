import type { FacetCounts } from '../../shared/read-index/facets.ts';
import { foldWord } from '../../shared/search/fold-word.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import type { FacetQuery, Tags } from './instant-query.ts';

/** Returns the values of a facet. Marks the beginnings of words that match the query. */
export function facetHits(counts: FacetCounts, { text }: FacetQuery, tags: Tags) {
  const wanted = splitWords(text, 'en').map(({ word }) => foldWord(word));
  return counts.values.map(({ value, count }) => ({
    value,
    highlighted: markBeginnings(value, wanted, tags),
    count,
  }));
}

function markBeginnings(value: string, wanted: readonly string[], { before, after }: Tags): string {
  let marked = '';
  let at = 0;
  for (const { word, start, end } of splitWords(value, 'en')) {
    const folded = foldWord(word);
    const found = wanted.filter((each) => folded.startsWith(each)).sort((a, b) => b.length - a.length)[0];
    if (found === undefined) continue;
    // If folding changes the length, letters do not correspond: then the whole word is marked.
    const stop = folded.length === word.length ? start + found.length : end;
    marked += `${value.slice(at, start)}${before}${value.slice(start, stop)}${after}`;
    at = stop;
  }
  return marked + value.slice(at);
}
