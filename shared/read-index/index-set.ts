import { fastTextDigest } from '../fast-digest.ts';

/**
 * Indices of one generation, if the read index is outside the process. Each is listed under the name by which searches find it while the
 * generation is live.
 */
export type IndexSet = Readonly<Record<string, string>>;

/** Returns a short name, which is equal for equal sets. */
export function nameOfSet(set: IndexSet): string {
  return fastTextDigest(Object.values(set).sort().join()).toString(36);
}
