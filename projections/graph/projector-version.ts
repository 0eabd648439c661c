/**
 * Increase it when the same log gives another content graph than before, for example after a fix of the projector. Graphs of another
 * version continue to be served while they are rebuilt from the log.
 */
export const PROJECTOR_VERSION = 1;
