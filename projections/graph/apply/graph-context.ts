import type { Journal } from '../../journal/journal.ts';
import type { ChangeLog } from '../store/change-log.ts';
import type { Names } from '../store/entry-names.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import { farType } from '../store/graph-relation.ts';
import type { GraphSession } from '../store/graph-session.ts';
import type { KeptLinks } from '../store/kept-links.ts';
import type { KeptValues } from '../store/kept-values.ts';
import type { LinkStore } from '../store/link-store.ts';
import type { PendingEdits } from '../store/pending-edits.ts';
import type { RowIds } from '../store/row-ids.ts';
import type { ExistingRows } from '../store/row-keys.ts';
import type { Sequences } from '../store/sequences.ts';
import type { SchemaView } from '../store/type-view.ts';
import type { RelationEditing } from './apply-relation-operation.ts';

/** Parts of the graph that applying an event needs. */
export type GraphContext = {
  readonly db: GraphDatabase;
  readonly names: Names;
  readonly ids: RowIds;
  readonly sequences: Sequences;
  readonly existing: ExistingRows;
  readonly schema: SchemaView;
  readonly changes: ChangeLog;
  readonly links: LinkStore;
  readonly pending: PendingEdits;
  readonly keptValues: KeptValues;
  readonly keptLinks: KeptLinks;
  readonly journal: Journal;
  readonly session: GraphSession;
  /** Writes new entries, ids and links to their tables; rows are written at the end of the session. */
  flush(): void;
};

/** The event being applied: its time and position. */
export type Moment = { readonly at: string; readonly position: number };

/** Returns the parts of the graph that edits of relations need. `entryOf` numbers an entry that no event has mentioned yet. */
export function relationEditing({ links, sequences, names, schema }: GraphContext): RelationEditing {
  return {
    links,
    nextOrder: () => sequences.next('link'),
    entryOf: (side, target) =>
      names.entry(schema.type(farType(side)).number, target.documentId, target.locale),
  };
}
