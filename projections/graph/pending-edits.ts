import type { GraphDatabase } from './graph-database.ts';
import type { GraphRelation } from './graph-relation.ts';

/** A link that was edited in the draft world from its inverse side, by `editor`, and not published since. */
export type PendingEdit = { readonly source: number; readonly relation: number; readonly target: number };

/**
 * Publishing a document publishes what was edited on its own side of a relation, and nothing that another document's
 * unpublished edit did. Links are owned by one side, so edits from the other are noted here. Nearly always empty: the count is
 * kept so that the common case reads nothing.
 */
export type PendingEdits = {
  note(relation: GraphRelation, source: number, target: number, editor: number): void;
  /** The owner's own edit of the link supersedes the inverse side's. */
  forget(relation: GraphRelation, source: number, target: number): void;
  by(editor: number): readonly PendingEdit[];
  /** `source` was published, or either end deleted. */
  forgetSource(source: number): void;
  forgetEditor(editor: number): void;
  forgetTarget(target: number): void;
};

export function openPendingEdits(db: GraphDatabase): PendingEdits {
  let some = db.get('SELECT 1 FROM pending_edits LIMIT 1') !== undefined;
  const forgetWhere = (condition: string, ...values: number[]): void => {
    if (some) db.run(`DELETE FROM pending_edits WHERE ${condition}`, ...values);
  };
  return {
    note(relation, source, target, editor) {
      some = true;
      db.run('INSERT OR REPLACE INTO pending_edits VALUES (?, ?, ?, ?)', source, relation.id, target, editor);
    },
    forget(relation, source, target) {
      forgetWhere('source = ? AND relation = ? AND target = ?', source, relation.id, target);
    },
    by(editor) {
      if (!some) return [];
      return db
        .all(
          'SELECT source, relation, target FROM pending_edits WHERE editor = ? ORDER BY source, relation, target',
          editor,
        )
        .map((row) => ({
          source: row[0] as number,
          relation: row[1] as number,
          target: row[2] as number,
        }));
    },
    forgetSource: (source) => forgetWhere('source = ?', source),
    forgetEditor: (editor) => forgetWhere('editor = ?', editor),
    forgetTarget: (target) => forgetWhere('target = ?', target),
  };
}
