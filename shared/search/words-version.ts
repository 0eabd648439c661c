/**
 * Version of what the words of a text are: how texts are split, folded and stemmed, and which words are stop words. Raise it when any of
 * these changes: words that earlier versions stored are then read again.
 */
export const WORDS_VERSION = 1;
