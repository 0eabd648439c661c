import type { LinkTarget } from '../../../shared/document/events.ts';
import type { ChangedNames } from '../../journal/journal.ts';
import { recordSharedDiscard, recordSharedPublication } from '../../journal/record-changes.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { linkedEntries } from '../store/linked-entries.ts';
import { DRAFT, PUBLISHED } from '../store/row-keys.ts';
import { copyOwned, copyPendingEdits } from './copy-owned.ts';
import { editEntry, editRelation } from './edit-entry.ts';
import type { GraphContext, Moment } from './graph-context.ts';
import { differingValues, operationInLocale } from './shared-values.ts';

/** Publishes the shared values and links of one locale in the document's other published locales too. */
export function publishShared(context: GraphContext, entry: GraphEntry, moment: Moment): void {
  const { shared, type } = entry.view;
  if (shared.length === 0) return;
  for (const sibling of context.session.siblings(entry)) {
    const published = sibling.rows[PUBLISHED];
    if (published === undefined) continue;
    recordSharedPublication(context, moment, sibling);
    sibling.sharedPublished = moment.position;
    sibling.isNoted = true;
    const draft = { entry: sibling, version: DRAFT } as const;
    const differing = differingValues(context, draft, { entry: sibling, version: PUBLISHED }, shared);
    const relations = shared.filter((name) => type.attributes.get(name)?.kind === 'relation');
    const names = new Set([...Object.keys(differing), ...relations]);
    if (Object.keys(differing).length > 0) published.updatedAt = moment.at;
    if (names.size > 0) copyOwned(context, sibling, { from: DRAFT, to: PUBLISHED, only: names });
    copyPendingEdits(context, sibling, { from: DRAFT, to: PUBLISHED, only: names });
  }
}

/** Discards the shared values of one locale's draft in the document's other drafts too. `names`: what that draft had changed. */
export function discardShared(
  context: GraphContext,
  entry: GraphEntry,
  moment: Moment,
  names: ChangedNames,
): void {
  const { shared, type } = entry.view;
  if (shared.length === 0) return;
  const reverted = { entry, version: DRAFT } as const;
  for (const sibling of context.session.siblings(entry)) {
    const draft = sibling.rows[DRAFT];
    if (draft === undefined) continue;
    recordSharedDiscard(context, moment, sibling, names);
    sibling.sharedEdited = 0;
    sibling.isNoted = true;
    const values = differingValues(context, reverted, { entry: sibling, version: DRAFT }, shared);
    if (Object.keys(values).length > 0) {
      draft.updatedAt = moment.at;
      editEntry(context, sibling, draft, { values, relations: [] });
    }
    for (const name of shared) {
      if (type.attributes.get(name)?.kind !== 'relation') continue;
      const targets = targetsOf(context, entry, name);
      const operation = operationInLocale(context, sibling, { attribute: name, kind: 'set', targets });
      editRelation(context, sibling, operation);
    }
  }
}

function targetsOf({ links, names }: GraphContext, entry: GraphEntry, attribute: string): LinkTarget[] {
  return linkedEntries(links, entry.view.relation(attribute), entry.id, DRAFT).map(names.target);
}
