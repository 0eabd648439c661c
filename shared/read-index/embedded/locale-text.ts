import { languageOf } from '../../search/languages.ts';
import { createPostings, type Postings } from './postings.ts';
import { createVocabulary, type Vocabulary } from './vocabulary.ts';

/** The words of a type's rows in one locale. */
export type LocaleText = {
  readonly locale: string;
  readonly vocabulary: Vocabulary;
  /** By field: the rows of each word. */
  postings: readonly Postings[];
  /** By field: number of words in all rows, without stop words. */
  readonly lengths: number[];
  /** Rows with any word. */
  rows: number;
  /** By word: the number of the last value that had it. */
  readonly lastSeen: number[];
  stamp: number;
};

/** Creates an empty text index of a locale. `fields`: number of searched fields. */
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
