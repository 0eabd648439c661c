/**
 * Version of the rules for the words of a text: the text that readers see, splitting, folding, stemming and stop words. Raise it when one
 * of these changes. Indices in Elasticsearch are then made again.
 */
export const WORDS_VERSION = 4;
