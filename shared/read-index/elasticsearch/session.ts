import type { Uid } from '../../schema/content-type.ts';
import type { RowSpace, World } from '../read-index.ts';
import type { StoredLinks, StoredParts } from './index-document.ts';
import type { IndexNames } from './index-names.ts';
import type { Layouts } from './plan-query.ts';
import type { SearchEngine } from './search-engine.ts';

/** What every request to the index is answered with. */
export type ReaderContext = {
  readonly engine: SearchEngine;
  readonly names: IndexNames;
  readonly layouts: Layouts;
  /** Keys that a semi-join may find, all its pages together. */
  readonly semiJoinLimit: number;
  /** Matching rows that are sorted in the process where a sort leads beyond what the documents hold. */
  readonly sortLimit: number;
};

/** What a row owns that `follow` goes along. */
export type RowDetails = { readonly links: StoredLinks; readonly parts: StoredParts };

/** One world, and what is known of its rows since the session began: an answer, or a single call. */
export type Session = ReaderContext & {
  readonly world: World;
  readonly known: Map<string, Map<number, RowDetails>>;
};

export function openSession(context: ReaderContext, world: World): Session {
  return { ...context, world, known: new Map() };
}

export function knownRows(session: Session, space: RowSpace): Map<number, RowDetails> {
  const name = JSON.stringify(space);
  const known = session.known.get(name) ?? new Map<number, RowDetails>();
  session.known.set(name, known);
  return known;
}

export function indexOf(session: Session, type: Uid): string {
  return session.names.alias(type, session.world);
}
