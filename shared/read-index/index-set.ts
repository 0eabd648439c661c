/**
 * Indices of one generation, if the read index is outside the process. Each is listed under the name by which searches find it while the
 * generation is live.
 */
export type IndexSet = Readonly<Record<string, string>>;
