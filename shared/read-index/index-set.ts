/**
 * Indices of one generation if the read index is outside the process, by the names through which searches find them
 * while the generation is live.
 */
export type IndexSet = Readonly<Record<string, string>>;
