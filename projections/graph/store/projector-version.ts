/**
 * Increase it when the same log gives another content graph than before, for example after a fix of the projector. Graphs of another
 * version continue to be served while they are rebuilt from the log. Version 2 keeps values that no definition shows. Version 3 has a
 * journal.
 */
export const PROJECTOR_VERSION = 3;

/** First version whose graphs have a journal. */
export const JOURNAL_SINCE = 3;
