import { languageOf } from '../../search/languages.ts';
import { createPostings, type Postings } from './postings.ts';
import { createVocabulary, type Vocabulary } from './vocabulary.ts';

/** The words of a type's rows in one locale. */
export type LocaleText = {
  readonly locale: string;
  readonly vocabulary: Vocabulary;
  /** By field: the rows of each word. */
  postings: readonly Postings[];
  /** By field: words in all rows, but stop words. */
  readonly lengths: number[];
  /** Rows with any word. */
  rows: number;
  /** By word: the value that last had it, by the number of the value. */
  readonly lastSeen: number[];
  stamp: number;
};

/** Creates the words of a locale in which no row has any yet. `fields`: how many are searched. */
export function createLocaleText(locale: string, fields: number): LocaleText {
  return {
    locale,
    vocabulary: createVocabulary(languageOf(locale)),
    postings: Array.from({ length: fields }, () => createPostings()),
    lengths: Array.from({ length: fields }, () => 0),
    rows: 0,
    lastSeen: [],
    stamp: 0,
  };
}
