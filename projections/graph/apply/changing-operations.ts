import type { RelationOperation } from '../../../shared/document/events.ts';
import { farType, type GraphRelationSide, isToOne } from '../store/graph-relation.ts';
import { linkedEntries } from '../store/linked-entries.ts';
import { DRAFT, worldsOf } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import { desiredTargets, sameList } from './apply-relation-operation.ts';
import type { GraphContext } from './graph-context.ts';
import { operationInLocale } from './shared-values.ts';

type Context = Pick<GraphContext, 'links' | 'names' | 'schema' | 'pending'>;

/** The entry that a write would edit. */
export type EditedEntry = { readonly id: number; readonly locale: string | null };

/**
 * Returns those operations of a write that would change a link or the next publication. The others need not be stored. `siblings`: the
 * document's other locales with a row, to which operations on shared attributes are copied. If a type has a relation with itself, an
 * operation on one side changes the input of one on the other side. So both are kept, or both are omitted.
 */
export function changingOperations(
  context: Context,
  view: TypeView,
  { entry, siblings }: { readonly entry: EditedEntry; readonly siblings: readonly EditedEntry[] },
  operations: readonly RelationOperation[],
): readonly RelationOperation[] {
  const relationOf = ({ attribute }: RelationOperation) => view.relation(attribute).relation;
  const changing = operations.filter((operation) => {
    if (changesLinks(context, view, entry, operation)) return true;
    if (!view.shared.includes(operation.attribute)) return false;
    return siblings.some((sibling) => {
      const local = operationInLocale(context, { view, locale: sibling.locale }, operation);
      return changesLinks(context, view, sibling, local);
    });
  });
  const relations = new Set(changing.map(relationOf));
  return operations.filter((operation) => relations.has(relationOf(operation)));
}

function changesLinks(
  context: Context,
  view: TypeView,
  { id }: EditedEntry,
  operation: RelationOperation,
): boolean {
  const side = view.relation(operation.attribute);
  if (!isToOne(side) && view.edited === DRAFT && changesPublication(context, side, id, operation))
    return true;
  const finder = { entryOf: entryFinder(context) };
  return worldsOf(view.edited).some((world) => {
    const before = linkedEntries(context.links, side, id, world);
    return !sameList(desiredTargets(finder, side, operation, before), before);
  });
}

/**
 * Returns whether an operation on a draft changes its next publication. It may connect targets that are already linked: the links then
 * belong to this side, and are published with it.
 */
function changesPublication(
  context: Context,
  side: GraphRelationSide,
  id: number,
  operation: RelationOperation,
): boolean {
  if (operation.kind === 'set' || operation.connect.length === 0) return false;
  if (side.side !== 'owner') return true;
  const entryOf = entryFinder(context);
  return operation.connect.some(({ target }) =>
    context.pending.has(side.relation, id, entryOf(side, target)),
  );
}

/** Number of an entry that is not known yet, to which nothing is linked. */
const UNKNOWN = -1;

function entryFinder({ names, schema }: Context): Parameters<typeof desiredTargets>[0]['entryOf'] {
  return (side, { documentId, locale }) =>
    names.find(schema.type(farType(side)).number, documentId, locale) ?? UNKNOWN;
}
