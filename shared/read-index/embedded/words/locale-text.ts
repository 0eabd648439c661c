import { languageOf } from '../../../search/languages.ts';
import { createPostings, type Postings } from '../lists/postings.ts';
import { createVocabulary, type Vocabulary } from './vocabulary.ts';

/** Words of a type's rows in one locale. */
export type LocaleText = {
  readonly locale: string;
  readonly vocabulary: Vocabulary;
  /** Rows of each word, by field. */
  readonly postings: readonly Postings[];
  /** Number of words in all rows without stop words, by field. */
  readonly lengths: number[];
  /** Number of rows with any word. */
  rows: number;
  /** Number of the last value that had the word, by word. */
  readonly lastSeen: number[];
  stamp: number;
};

/** Creates an empty index of texts in a locale. `fields`: number of searched fields. */
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
