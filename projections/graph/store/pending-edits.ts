import { valueAt } from '../../../shared/map-values.ts';
import type { GraphDatabase } from './graph-database.ts';
import type { GraphRelation } from './graph-relation.ts';

/** A link that was edited in the draft world from its inverse side, by `editor`, and not published since. */
export type PendingEdit = {
  readonly source: number;
  readonly relation: number;
  readonly target: number;
  readonly editor: number;
};

/**
 * Publishing a document publishes edits on its own side of a relation, and no unpublished edit of another document. Links are owned by one
 * side, so edits from the other side are recorded here. They are few, nearly always none, so all are in memory.
 */
export type PendingEdits = ReturnType<typeof openPendingEdits>;

const ALL = 'SELECT source, relation, target, editor FROM pending_edits';
const NOTE = 'INSERT OR REPLACE INTO pending_edits VALUES (?, ?, ?, ?)';
const FORGET = 'DELETE FROM pending_edits WHERE source = ? AND relation = ? AND target = ?';

/** Reads all edits of the graph's file. Each change is written at once, in the transaction of the events. */
export function openPendingEdits(db: GraphDatabase) {
  const edits = new Map<string, PendingEdit>();
  const by = { source: createIndex('source'), target: createIndex('target'), editor: createIndex('editor') };
  const indices = Object.values(by);
  const remove = (edit: PendingEdit | undefined): void => {
    if (edit === undefined) return;
    edits.delete(keyOf(edit));
    for (const index of indices) index.remove(edit);
    db.run(FORGET, edit.source, edit.relation, edit.target);
  };
  const keep = (edit: PendingEdit): void => {
    edits.set(keyOf(edit), edit);
    for (const index of indices) index.add(edit);
  };
  const load = (): void => {
    edits.clear();
    for (const index of indices) index.clear();
    for (const [source, relation, target, editor] of db.all(ALL) as number[][])
      keep({ source, relation, target, editor } as PendingEdit);
  };
  load();
  return {
    note(relation: GraphRelation, source: number, target: number, editor: number): void {
      const edit = { source, relation: relation.id, target, editor };
      remove(edits.get(keyOf(edit)));
      keep(edit);
      db.run(NOTE, source, relation.id, target, editor);
    },
    /** The owner's own edit of the link supersedes the inverse side's. */
    forget(relation: GraphRelation, source: number, target: number): void {
      if (edits.size > 0) remove(edits.get(keyOf({ source, relation: relation.id, target })));
    },
    has: (relation: GraphRelation, source: number, target: number): boolean =>
      edits.has(keyOf({ source, relation: relation.id, target })),
    by: (editor: number): readonly PendingEdit[] => by.editor.of(editor).sort(inOrder),
    /** Called when `source` was published, or either end was deleted. */
    forgetSource: (source: number): void => by.source.of(source).forEach(remove),
    forgetEditor: (editor: number): void => by.editor.of(editor).forEach(remove),
    forgetTarget: (target: number): void => by.target.of(target).forEach(remove),
    /** Reads all edits again after the file was changed elsewhere. */
    reload: load,
  };
}

function keyOf({ source, relation, target }: Omit<PendingEdit, 'editor'>): string {
  return `${source}/${relation}/${target}`;
}

function inOrder(a: PendingEdit, b: PendingEdit): number {
  return a.source - b.source || a.relation - b.relation || a.target - b.target;
}

/** Edits by one of their ends. */
function createIndex(end: 'source' | 'target' | 'editor') {
  const sets = new Map<number, Set<PendingEdit>>();
  return {
    of: (entry: number): PendingEdit[] => [...(sets.get(entry) ?? [])],
    add(edit: PendingEdit): void {
      valueAt(sets, edit[end], () => new Set()).add(edit);
    },
    remove(edit: PendingEdit): void {
      const known = sets.get(edit[end]);
      known?.delete(edit);
      if (known?.size === 0) sets.delete(edit[end]);
    },
    clear: () => sets.clear(),
  };
}
