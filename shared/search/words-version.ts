/**
 * Version of what the words of a text are: what of a text readers see, how it is split, folded and stemmed, and which words are stop words.
 * Raise it when any of these changes: words that earlier versions stored are then read again, and indices in Elasticsearch made again.
 */
export const WORDS_VERSION = 3;
