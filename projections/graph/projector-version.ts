/**
 * Counts up when the same log gives another content graph than before, as when the projector is mended. Graphs of another
 * version go on being served, and are made anew from the log beside that.
 */
export const PROJECTOR_VERSION = 1;
