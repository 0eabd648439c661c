import type { ScalarType } from '../schema/content-type.ts';
import { foldWord } from '../search/fold-word.ts';
import { splitWords } from '../search/split-words.ts';
import type { Scalar } from './bool-query.ts';
import { compareCodePoints, fieldTypeOf } from './column.ts';
import type { FacetCount, FacetRequest } from './facets.ts';

/** The name of a value among the values of a facet: as answers show it. */
export function facetText(type: ScalarType, value: Scalar): string {
  switch (fieldTypeOf(type)) {
    case 'boolean':
      return String(Boolean(value));
    case 'instant': {
      const text = new Date(Number(value)).toISOString();
      return type === 'date' ? text.slice(0, 10) : text;
    }
    case 'time-of-day':
      return new Date(Number(value)).toISOString().slice(11, 23);
    default:
      return String(value);
  }
}

/** The counts that a request wants, in order. */
export function selectFacets(counts: Iterable<FacetCount>, { limit, search }: FacetRequest): FacetCount[] {
  const wanted = facetFilter(search ?? '');
  return [...counts]
    .filter(({ value }) => wanted(value))
    .sort((a, b) => b.count - a.count || compareCodePoints(a.value, b.value))
    .slice(0, limit);
}

/** Values of which some word begins with each word of the text. */
function facetFilter(text: string): (value: string) => boolean {
  const wanted = foldedWords(text);
  if (wanted.length === 0) return () => true;
  return (value) => {
    const words = foldedWords(value);
    return wanted.every((start) => words.some((word) => word.startsWith(start)));
  };
}

function foldedWords(text: string): readonly string[] {
  return splitWords(text, 'en').map(({ word }) => foldWord(word));
}
