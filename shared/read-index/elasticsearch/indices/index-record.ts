import type { IndexSet } from '../../index-set.ts';
import type { ObservedContent } from './observe-indices.ts';

/** Identity of an index that Varve has written. Another identity means that somebody has replaced its content. */
export type IndexIdentity = Pick<ObservedContent, 'uuid' | 'histories'> & { readonly index: string };

/** The live indices that the leader of a log has written, by alias. null: the content of the index is wrong. */
export type IndexRecord = Readonly<Record<string, IndexIdentity | null>>;

/** Returns the id of the record in the index of the progress. */
export function recordId(log: string): string {
  return `${log}-indices`;
}

/** Returns the record of a set, with the identities that were observed. An index that does not answer has none. */
export function recordOf(set: IndexSet, contents: ReadonlyMap<string, ObservedContent>): IndexRecord {
  return Object.fromEntries(
    Object.entries(set).flatMap(([alias, index]) => {
      const { uuid, histories, isAssigned } = contents.get(index) ?? {};
      if (uuid === undefined || histories === undefined || isAssigned !== true) return [];
      return [[alias, { index, uuid, histories }]];
    }),
  );
}
