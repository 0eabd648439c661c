import { valueAt } from '../../../map-values.ts';
import type { TextSearch } from '../../text-search.ts';
import type { TextIndex } from '../words/text-index.ts';
import type { LocaleSearch } from './locale-search.ts';
import { createTextTerms } from './search-texts.ts';

/** Returns the terms of a search by words. Searches for the same words share them. */
export type CommonTerms = (index: TextIndex, text: TextSearch) => () => readonly LocaleSearch[];

/** Creates the terms of several searches. Each is found when a search first needs it. */
export function createCommonTerms(): CommonTerms {
  const terms = new Map<TextIndex, Map<string, () => readonly LocaleSearch[]>>();
  return (index, text) => {
    const { query, locales, fields, typoTolerance } = text;
    const name = JSON.stringify([query, locales, typoTolerance, fields && [...fields].sort()]);
    const known = valueAt(terms, index, () => new Map());
    return valueAt(known, name, () => createTextTerms(index, text));
  };
}
