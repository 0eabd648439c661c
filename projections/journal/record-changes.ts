import type { GraphEntry } from '../graph/store/graph-entry.ts';
import { DRAFT, PUBLISHED, UNVERSIONED, type VersionNumber } from '../graph/store/row-keys.ts';
import { attributeOf } from './component-parts.ts';
import { type ChangedNames, type Journal, namesIn, namesText } from './journal.ts';

/** The journal, and the event that is being applied. */
type Context = { readonly journal: Journal };
type Moment = { readonly position: number };

/** Records that an event writes a row. Call it before a new row is added. */
export function recordWritten(
  { journal }: Context,
  moment: Moment,
  entry: GraphEntry,
  change: { readonly version: VersionNumber; readonly changed: ChangedNames },
): void {
  const { version, changed } = change;
  journal.add(moment, entry, change);
  // Without a published row the next publication creates one, whatever was changed.
  if (version === PUBLISHED || (version === DRAFT && entry.rows[PUBLISHED] !== undefined))
    addUnpublished(entry, changed);
}

/** Records that a row becomes a copy of the entry's other version. Returns the names of what may differ. Call it before the copy. */
export function recordCopy(
  { journal }: Context,
  moment: Moment,
  entry: GraphEntry,
  version: VersionNumber,
): ChangedNames {
  const changed = namesIn(entry.unpublished);
  journal.add(moment, entry, { version, changed, linksAfter: entry.equalAt });
  forgetUnpublished(entry);
  entry.equalAt = moment.position;
  return changed;
}

/** Records that the publication of another locale published the shared values of this entry too. */
export function recordSharedPublication({ journal }: Context, moment: Moment, entry: GraphEntry): void {
  const unpublished = namesIn(entry.unpublished);
  const changed = sharedAmong(entry, unpublished);
  if (changed.size === 0) return;
  journal.add(moment, entry, { version: PUBLISHED, changed });
  if (unpublished !== 'all') setUnpublished(entry, unpublished.difference(changed));
}

/** Records that another locale discarded its draft, and with it the shared values of this entry. `names`: what that draft had changed. */
export function recordSharedDiscard(
  { journal }: Context,
  moment: Moment,
  entry: GraphEntry,
  names: ChangedNames,
): void {
  const changed = sharedAmong(entry, names);
  if (changed.size === 0) return;
  journal.add(moment, entry, { version: DRAFT, changed });
  addUnpublished(entry, changed);
}

/** Records the removal of rows that exist. Call it before they are removed. */
export function recordRemoval(
  { journal }: Context,
  moment: Moment,
  entry: GraphEntry,
  versions: readonly VersionNumber[] = [DRAFT, PUBLISHED, UNVERSIONED],
): void {
  for (const version of versions)
    if (entry.rows[version] !== undefined)
      journal.add(moment, entry, { version, event: 'delete', changed: 'all' });
}

/** Notes that both versions of an entry are equal, or that it has only one. */
export function forgetUnpublished(entry: GraphEntry): void {
  setUnpublished(entry, new Set());
}

function addUnpublished(entry: GraphEntry, names: ChangedNames): void {
  const before = namesIn(entry.unpublished);
  setUnpublished(entry, before === 'all' || names === 'all' ? 'all' : before.union(names));
}

function setUnpublished(entry: GraphEntry, names: ChangedNames): void {
  entry.unpublished = namesText(names);
  entry.isNoted = true;
}

function sharedAmong({ view }: GraphEntry, names: ChangedNames): ReadonlySet<string> {
  const shared = new Set(view.shared);
  return names === 'all' ? shared : new Set([...names].filter((path) => shared.has(attributeOf(path))));
}
