/**
 * The indices of one generation where a read index is outside the process: by the name through which searches find them while
 * the generation is live.
 */
export type IndexSet = Readonly<Record<string, string>>;
